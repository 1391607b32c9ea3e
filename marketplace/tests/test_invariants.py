"""Hours of random requesters and workers: whatever they do, the books and the counters hold."""

from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from marketplace import clock
from marketplace.hits.acceptance import RefusedError, accept, give_back, submit
from marketplace.hits.contests import ContestError, raise_contest
from marketplace.models import HANDED_IN, HIT, LIVE, Assignment, AssignmentState, Event, Worker
from marketplace.people.account_opening import keys_of, open_requester
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.conftest import QUESTION
from marketplace.tests.test_events import EVENTS
from marketplace.tests.test_money import books_balance

# From each state, what may follow it; "ours" is late work that still found its place free.
LEGAL = {
    AssignmentState.ACCEPTED: {
        AssignmentState.SUBMITTED,
        AssignmentState.APPROVED,
        AssignmentState.RETURNED,
        AssignmentState.ABANDONED,
    },
    AssignmentState.SUBMITTED: {AssignmentState.APPROVED, AssignmentState.REJECTED},
    AssignmentState.REJECTED: {AssignmentState.APPROVED},
    AssignmentState.ABANDONED: {AssignmentState.SUBMITTED, AssignmentState.APPROVED},
    AssignmentState.APPROVED: set(),
    AssignmentState.RETURNED: set(),
}


class Marketplace(RuleBasedStateMachine):
    """Rita posts and decides, three workers come and go, and time passes."""

    def __init__(self) -> None:
        super().__init__()
        now = clock.now()
        self.requester = open_requester(f"Rita {uuid4()}", "", 5_000, now)
        self.client = mturk_client(keys_of(self.requester, ENDPOINT, now))
        self.workers = [
            Worker.objects.create(display_name=f"W{n}", created_at=now) for n in range(3)
        ]
        self.seen: dict[int, str] = {}

    def attempt(self, name: str, **parameters: Any) -> None:
        """Call an operation; a refusal is fine, a fault is not."""
        with suppress(self.client.exceptions.RequestError):
            self.client._make_api_call(name, parameters)

    def hit(self, n: int) -> HIT | None:
        """Return one of the HITs there are."""
        keys = list(HIT.objects.filter(requester=self.requester).order_by("pk"))
        return keys[n % len(keys)] if keys else None

    def assignment(self, n: int) -> Assignment | None:
        """Return one of the acceptances there are."""
        rows = Assignment.objects.filter(hit__requester=self.requester).order_by("pk")
        found = list(rows)
        return found[n % len(found)] if found else None

    @rule(reward=st.sampled_from(["0.50", "1.00"]), places=st.integers(1, 3))
    def post(self, reward: str, places: int) -> None:
        """Rita posts a HIT."""
        self.attempt(
            "CreateHIT",
            Title="t",
            Description="d",
            Reward=reward,
            MaxAssignments=places,
            AssignmentDurationInSeconds=600,
            AutoApprovalDelayInSeconds=7200,
            LifetimeInSeconds=3600,
            Question=QUESTION,
        )

    @rule(n=st.integers(0, 5), who=st.integers(0, 2))
    def take(self, n: int, who: int) -> None:
        """A worker accepts."""
        if hit := self.hit(n):
            with suppress(RefusedError):
                accept(self.workers[who], hit.hit_id, clock.now())

    @rule(n=st.integers(0, 9))
    def hand_in(self, n: int) -> None:
        """A form arrives, early, late or again."""
        if assignment := self.assignment(n):
            with suppress(RefusedError):
                submit(assignment, "answer", clock.now())

    @rule(n=st.integers(0, 9))
    def go_back(self, n: int) -> None:
        """A worker returns a HIT."""
        if assignment := self.assignment(n):
            with suppress(RefusedError):
                give_back(assignment, clock.now())

    @rule(n=st.integers(0, 9), how=st.sampled_from(["approve", "reject", "override", "bonus"]))
    def decide(self, n: int, how: str) -> None:
        """Rita decides on work."""
        if not (assignment := self.assignment(n)):
            return
        one = {"AssignmentId": assignment.assignment_id}
        if how == "reject":
            self.attempt("RejectAssignment", **one, RequesterFeedback="Because.")
        elif how == "bonus":
            worker_id = assignment.worker.worker_id
            self.attempt("SendBonus", **one, WorkerId=worker_id, BonusAmount="0.33", Reason="Good.")
        else:
            self.attempt("ApproveAssignment", **one, OverrideRejection=how == "override")

    @rule(n=st.integers(0, 5), how=st.sampled_from(["end", "extend", "more", "delete", "review"]))
    def change(self, n: int, how: str) -> None:
        """Rita changes a HIT's life."""
        if not (hit := self.hit(n)):
            return
        one: dict[str, Any] = {"HITId": hit.hit_id}
        if how in ("end", "extend"):
            hours = 1 if how == "extend" else -1
            time = clock.now() + timedelta(hours=hours)
            self.attempt("UpdateExpirationForHIT", **one, ExpireAt=time)
        elif how == "more":
            self.attempt(
                "CreateAdditionalAssignmentsForHIT", **one, NumberOfAdditionalAssignments=1
            )
        else:
            self.attempt("DeleteHIT" if how == "delete" else "UpdateHITReviewStatus", **one)

    @rule(n=st.integers(0, 5), reward=st.sampled_from(["0.40", "1.20"]))
    def retype(self, n: int, reward: str) -> None:
        """Rita changes what a HIT pays."""
        if not (hit := self.hit(n)):
            return
        made = self.client.create_hit_type(
            Title="t",
            Description="d",
            Reward=reward,
            AssignmentDurationInSeconds=600,
            AutoApprovalDelayInSeconds=7200,
        )
        self.attempt("UpdateHITTypeOfHIT", HITId=hit.hit_id, HITTypeId=made["HITTypeId"])

    @rule(n=st.integers(0, 5))
    def listen(self, n: int) -> None:
        """Rita wants to be told what happens."""
        if hit := self.hit(n):
            notification = {
                "Destination": "https://listener.example/",
                "Transport": "SQS",
                "Version": "2014-08-15",
                "EventTypes": EVENTS,
            }
            self.attempt(
                "UpdateNotificationSettings",
                HITTypeId=hit.hit_type.hit_type_id,
                Notification=notification,
            )

    @rule(n=st.integers(0, 9))
    def contest(self, n: int) -> None:
        """A worker contests a rejection."""
        if assignment := self.assignment(n):
            with suppress(ContestError):
                raise_contest(assignment, "It was good.", clock.now())

    @rule(days=st.sampled_from([8, 130]))
    def forget(self, days: int) -> None:
        """Nobody comes for long."""
        clock.advance(timedelta(days=days))

    @rule(minutes=st.sampled_from([1, 11, 61, 130]))
    def wait(self, minutes: int) -> None:
        """Time passes."""
        clock.advance(timedelta(minutes=minutes))

    @invariant()
    def the_books_balance(self) -> None:
        """Credits equal what is free, held and earned."""
        assert books_balance(self.requester)
        self.client.get_account_balance()
        assert books_balance(self.requester)

    @invariant()
    def the_counters_add_up(self) -> None:
        """Each HIT's counters are those of its assignments."""
        for hit in HIT.objects.filter(requester=self.requester):
            states = list(hit.assignments.values_list("state", flat=True))
            assert hit.n_pending == states.count(AssignmentState.ACCEPTED)
            assert hit.n_awaiting == states.count(AssignmentState.SUBMITTED)
            assert hit.n_completed == states.count(AssignmentState.APPROVED) + states.count(
                AssignmentState.REJECTED
            )
            assert hit.n_open + sum(state in HANDED_IN for state in states) + hit.n_pending == (
                hit.max_assignments
            )

    @invariant()
    def one_live_assignment_per_worker_and_hit(self) -> None:
        """No worker has two places of a HIT, no assignment id two holders."""
        live = Assignment.objects.filter(state__in=LIVE, hit__requester=self.requester)
        pairs = list(live.values_list("hit", "worker"))
        assert len(set(pairs)) == len(pairs)
        ids = list(live.values_list("assignment_id", flat=True))
        assert len(set(ids)) == len(ids)

    @invariant()
    def no_event_is_told_twice(self) -> None:
        """Each submission, approval and disposal is one event."""
        once = ("AssignmentApproved", "AssignmentRejected", "HITDisposed")
        rows = Event.objects.filter(requester=self.requester, content__EventType__in=once)
        told = [
            (one["EventType"], one["HITId"], one.get("AssignmentId"))
            for one in rows.values_list("content", flat=True)
        ]
        assert len(set(told)) == len(told)

    @invariant()
    def no_state_is_skipped(self) -> None:
        """Every change of an acceptance is a legal one."""
        for key, state in Assignment.objects.values_list("pk", "state"):
            before = self.seen.get(key, state)
            assert state == before or state in LEGAL[AssignmentState(before)], (before, state)
            self.seen[key] = state


def test_random_lives_keep_the_invariants() -> None:
    run_state_machine_as_test(
        Marketplace,
        settings=settings(
            max_examples=8,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
