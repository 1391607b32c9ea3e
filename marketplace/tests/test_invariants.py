"""Hours of random requesters and workers: whatever they do, the books and the counters hold."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import connections
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from marketplace import clock
from marketplace.amounts import amount_of
from marketplace.hits.acceptance import (
    ContestError,
    RefusedError,
    accept,
    give_back,
    raise_contest,
    submit,
)
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    HANDED_IN,
    HIT,
    LIVE,
    Assignment,
    AssignmentState,
    Event,
    LedgerEntry,
    Worker,
    WorkerBlock,
)
from marketplace.people.accounts import MergeError, keys_of, merge, open_requester
from marketplace.router import DATABASE
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


# With this statement a merge of the account waits until the transaction ends.
WAITED_FOR = "SELECT COALESCE(merged_into_id"


class OtherProcess:
    """Acts once between two statements of a call, where no lock of the call would hold it up."""

    def __init__(self, act: Callable[[], Any], after: int) -> None:
        self.act = act
        self.left = after
        self.depth = len(connections[DATABASE].savepoint_ids)

    def __call__(self, execute: Any, sql: str, values: Any, many: bool, context: Any) -> Any:
        """Run a statement, and act after it if it is its turn."""
        result = execute(sql, values, many, context)
        is_inside = len(connections[DATABASE].savepoint_ids) > self.depth
        # SQLite cannot act within a statement that writes.
        if not sql.startswith("SELECT") or (self.act is settle_all and is_inside):
            return result
        self.left -= 1
        if WAITED_FOR in sql:
            self.left = -1
        if self.left == 0:
            self.act()
        return result


def settle_all() -> None:
    settle_due(clock.now())


class Marketplace(RuleBasedStateMachine):
    """Rita posts and decides, three workers come and go, and time passes.

    Between two statements of her calls another process settles what is due, or joins accounts.
    """

    def __init__(self) -> None:
        super().__init__()
        now = clock.now()
        self.requester = open_requester(f"Rita {uuid4()}", "", 5_000, now)
        self.client = mturk_client(keys_of(self.requester, ENDPOINT, now))
        self.workers = [
            Worker.objects.create(display_name=f"W{n}", created_at=now) for n in range(3)
        ]
        self.seen: dict[int, str] = {}
        # What was read of each HIT's work in one pass: ids, and the token of what comes after.
        self.read: dict[str, tuple[list[str], dict[str, str]]] = {}

    def attempt(self, name: str, **parameters: Any) -> dict[str, Any]:
        """Call an operation; a refusal is fine, a fault is not."""
        with suppress(self.client.exceptions.RequestError):
            return dict(self.client._make_api_call(name, parameters))
        return {}

    def join(self, who: int) -> None:
        """Two accounts turn out to be one person's; somebody new comes."""
        now, second = clock.now(), self.workers[who]
        with suppress(MergeError):
            merge(self.workers[who - 1], second, now)
        self.workers[who] = Worker.objects.create(display_name="W", created_at=now)

    def hit(self, n: int) -> HIT | None:
        """Return one of the HITs there are."""
        keys = list(HIT.objects.filter(requester=self.requester).order_by("pk"))
        return keys[n % len(keys)] if keys else None

    def assignment(self, n: int) -> Assignment | None:
        """Return one of the acceptances there are."""
        rows = Assignment.objects.filter(hit__requester=self.requester).order_by("pk")
        found = list(rows)
        return found[n % len(found)] if found else None

    @rule(
        reward=st.sampled_from(["0.50", "1.00"]),
        places=st.integers(1, 3),
        keywords=st.sampled_from(["", "once"]),
    )
    def post(self, reward: str, places: int, keywords: str) -> None:
        """Rita posts a HIT."""
        self.attempt(
            "CreateHIT",
            Title="t",
            Description="d",
            Reward=reward,
            Keywords=keywords,
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

    @rule(n=st.integers(0, 9), seconds=st.sampled_from([0, 2]))
    def hand_in(self, n: int, seconds: int) -> None:
        """A form arrives, early, late or again, at a machine whose clock is slow or not."""
        now = clock.now() - timedelta(seconds=seconds)
        if assignment := self.assignment(n):
            is_known = assignment.state in HANDED_IN
            is_late, worker = assignment.deadline <= now, assignment.worker
            with suppress(RefusedError):
                submit(assignment, "answer", now)
            if is_late and not is_known and self.is_blocked(worker):
                assert assignment.state not in HANDED_IN

    def is_blocked(self, worker: Worker) -> bool:
        """Return whether Rita has blocked the worker."""
        return WorkerBlock.objects.filter(requester=self.requester, worker=worker).exists()

    @rule(who=st.integers(0, 2))
    def block(self, who: int) -> None:
        """Rita blocks a worker, or lets them come again."""
        one = {"WorkerId": self.workers[who].worker_id}
        if self.is_blocked(self.workers[who]):
            self.attempt("DeleteWorkerBlock", **one)
        else:
            self.attempt("CreateWorkerBlock", **one, Reason="Because.")

    @rule(
        name=st.sampled_from(["ListHITs", "ListReviewableHITs", "GetAccountBalance"]),
        minutes=st.sampled_from([1, 61, 130]),
        after=st.integers(1, 3),
    )
    def look(self, name: str, minutes: int, after: int) -> None:
        """What Rita is told is so when she is told, whoever settles what is due by then."""
        clock.advance(timedelta(minutes=minutes))
        size = {} if name == "GetAccountBalance" else {"MaxResults": 100}
        with connections[DATABASE].execute_wrapper(OtherProcess(settle_all, after)):
            told = self.attempt(name, **size)
        if name == "GetAccountBalance":
            self.requester.refresh_from_db()
            assert told["AvailableBalance"] == amount_of(self.requester.balance_cents)
            return
        now = clock.now()
        rows = HIT.objects.filter(requester=self.requester, disposed_at=None)
        there = {
            hit.hit_id for hit in rows if name == "ListHITs" or hit.status(now) == "Reviewable"
        }
        assert {one["HITId"] for one in told["HITs"]} == there

    @rule(n=st.integers(0, 5))
    def read_on(self, n: int) -> None:
        """Rita reads one more of a HIT's work, and has passed over none."""
        if not (hit := self.hit(n)):
            return
        ids, after = self.read.get(hit.hit_id, ([], {}))
        told = self.attempt("ListAssignmentsForHIT", HITId=hit.hit_id, MaxResults=1, **after)
        if not told["Assignments"]:
            return
        ids = [*ids, told["Assignments"][0]["AssignmentId"]]
        self.read[hit.hit_id] = ids, {"NextToken": told["NextToken"]}
        in_order = hit.assignments.filter(state__in=HANDED_IN).order_by("submitted_at", "pk")
        assert list(in_order.values_list("assignment_id", flat=True))[: len(ids)] == ids

    @rule(n=st.integers(0, 9))
    def go_back(self, n: int) -> None:
        """A worker returns a HIT."""
        if assignment := self.assignment(n):
            with suppress(RefusedError):
                give_back(assignment, clock.now())

    @rule(
        n=st.integers(0, 9),
        how=st.sampled_from(["approve", "reject", "override", "bonus"]),
        after=st.integers(3, 5),
    )
    def decide_meanwhile(self, n: int, how: str, after: int) -> None:
        """Rita decides on work while its worker's account is joined to another one."""
        row = self.assignment(n)
        if row is None or row.worker not in self.workers:
            return
        who = self.workers.index(row.worker)
        other = OtherProcess(lambda: self.join(who), after)
        with connections[DATABASE].execute_wrapper(other):
            self.decide(n, how)

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
    def what_is_done_once_is_done_once(self) -> None:
        """Of a type that states it no worker has two."""
        rows = Assignment.objects.filter(
            state__in=LIVE,
            hit__requester=self.requester,
            hit__hit_type__is_once=True,
            worker__merged=None,
        )
        pairs = list(rows.values_list("hit__hit_type", "worker"))
        assert len(set(pairs)) == len(pairs)

    @invariant()
    def nothing_is_owed_to_a_closed_account(self) -> None:
        """Whatever is earned is the open account's."""
        closed = LedgerEntry.objects.filter(worker__merged_into__isnull=False)
        assert not closed.filter(requester=self.requester).exists()

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
