"""A HIT under its row lock: decisions, counters and held money, reviews, what time brings about."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import connections
from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Greatest

from common.prepared_sql import JoinedQuery, PreparedQuery, Statements, Table, update
from common.wrong_clocks import CLOCK, SKEW, pull_back
from marketplace import funds
from marketplace.funds import InsufficientFundsError
from marketplace.hits.review_rules import agreement, known_answers
from marketplace.models import (
    HANDED_IN,
    HIT,
    Assignment,
    AssignmentState,
    Contest,
    HITType,
    LedgerKind,
    Requester,
    ReviewLevel,
    ReviewPolicy,
)
from marketplace.models.identifiers import new_entity_id
from marketplace.notifications.events import record_event, record_status_event
from marketplace.notifications.messages import notify_of_work, reason_of, system_message
from marketplace.questions.answers import answers_in, with_parts
from marketplace.router import DATABASE, atomic


def approve(hit: HIT, assignment: Assignment, at: datetime | None) -> int:
    """Mark an assignment approved and owe its reward; returns the cents that `refresh` must spend.

    What a closed account still earns is its person's, whose account is another now; whose the
    assignment is stays as it is. Expects the HIT's lock.
    """
    assert at is not None
    # Before the row is written: a merge that has begun waits for it with this account locked.
    worker_id = funds.account_of(assignment.worker_id)
    if assignment.state == AssignmentState.REJECTED:
        means = system_message("text", "approved_after_all_means")
        notify_of_work(hit, assignment, "approved_after_all", means, at)
    assignment.state, assignment.approved_at = AssignmentState.APPROVED, at
    assignment.save(update_fields=["state", "approved_at", "feedback"])
    record_event(hit, "AssignmentApproved", at, assignment.assignment_id)
    cents = assignment.reward_cents
    funds.owe(LedgerKind.REWARD, assignment.pk, hit.requester_id, worker_id, cents, at)
    return cents


def reject(hit: HIT, assignment: Assignment, feedback: str, at: datetime) -> None:
    """Mark an assignment rejected, with what the worker reads; expects the HIT's lock."""
    assignment.state, assignment.rejected_at = AssignmentState.REJECTED, at
    assignment.feedback = feedback
    assignment.save(update_fields=["state", "rejected_at", "feedback"])
    record_event(hit, "AssignmentRejected", at, assignment.assignment_id)
    notify_of_work(hit, assignment, "work_rejected", reason_of(feedback), at)


DISPOSED_AFTER = timedelta(days=120)
SUM_NAMES = (
    "n_pending",
    "n_awaiting",
    "n_completed",
    "awaiting_cents",
    "pending_cents",
    "deadline",
    "auto_approval_at",
    "contest_due_at",
)
NOTHING = (0, 0, 0, 0, 0, None, None, None)
PENDING, AWAITING = Q(state=AssignmentState.ACCEPTED), Q(state=AssignmentState.SUBMITTED)
CONTESTED = Q(state=AssignmentState.REJECTED, contest__answered_at=None)
SUMS = PreparedQuery(
    lambda hit, reward_cents: (
        Assignment.objects.filter(hit=hit)
        .values("hit")
        .annotate(
            n_pending=Count("pk", filter=PENDING),
            n_awaiting=Count("pk", filter=AWAITING),
            n_completed=Count(
                "pk", filter=Q(state__in=[AssignmentState.APPROVED, AssignmentState.REJECTED])
            ),
            awaiting_cents=Sum("reward_cents", filter=AWAITING, default=0),
            # A place that is given up costs the type's reward again, so that much is held too.
            pending_cents=Sum(Greatest("reward_cents", reward_cents), filter=PENDING, default=0),
            deadline=Min("deadline", filter=PENDING),
            auto_approval_at=Min("auto_approval_at", filter=AWAITING),
            contest_due_at=Min("contest__due_at", filter=CONTESTED),
        )
        .values_list(*SUM_NAMES)
    ),
    hit=int,
    reward_cents=int,
)


def update_counters(hit: HIT, now: datetime, paid_cents: int = 0) -> bool:
    """Bring counters, held money and the next due time in line; return whether work is all in now.

    Expects the HIT's lock; raises InsufficientFundsError when more must be held than there is.
    """
    reward_cents = hit.hit_type.reward_cents
    row = SUMS.first(hit=hit.pk, reward_cents=reward_cents) or NOTHING
    sums = dict(zip(SUM_NAMES, row, strict=True))
    hit.n_pending, hit.n_awaiting = sums["n_pending"], sums["n_awaiting"]
    hit.n_completed = sums["n_completed"]
    taken = hit.n_pending + hit.n_awaiting + hit.n_completed
    hit.n_open = hit.max_assignments - taken
    assignable = hit.is_assignable(now)
    if assignable:
        hit.is_reviewing = False
    due = [sums["deadline"], sums["auto_approval_at"], sums["contest_due_at"]]
    due.append(hit.expires_at if assignable else _disposal(hit, now))
    # What time ends was due by then; a requester ends a HIT now, whatever moment they name.
    is_ended_by_time = hit.next_due_at is not None and hit.next_due_at <= hit.expires_at
    ended_at = min(now, hit.expires_at) if is_ended_by_time else now
    hit.next_due_at = min((time for time in due if time is not None), default=None)
    held_cents = sums["awaiting_cents"] + sums["pending_cents"]
    held_cents += hit.n_open * reward_cents if assignable else 0
    funds.move(hit.requester_id, held_cents - hit.held_cents, paid_cents)
    hit.held_cents = held_cents
    is_complete = hit.status(now) == "Reviewable" and hit.told_status != "Reviewable"
    record_status_event(hit, hit.status(now), now, ended_at)
    update(hit)
    return is_complete


def _disposal(hit: HIT, now: datetime) -> datetime | None:
    """Dispose of a HIT that nobody has touched for long; returns when that will be due, else None.

    Expects counters that are right and a HIT that is not assignable.
    """
    if hit.disposed_at is not None or hit.n_pending or hit.n_awaiting:
        return None
    disposal_at = max(hit.created_at, hit.expires_at) + DISPOSED_AFTER
    if disposal_at > now:
        return disposal_at
    hit.disposed_at = disposal_at
    return None


# How many places a HIT may come to have when the policy does not say.
MOST_PLACES = 5
MANY_ASSIGNMENTS = 10
INVALID = "AWS.MechanicalTurk.InvalidAssignmentState"


def refresh(hit: HIT, now: datetime, paid_cents: int = 0) -> None:
    """Bring a HIT's counters and money in line, and review it when its work is all in.

    Expects the HIT's lock; raises InsufficientFundsError when more must be held than there is.
    """
    # Reviews decide work, for which they need counters that are right.
    if update_counters(hit, now, paid_cents) and hit.has_review_policies:
        review_hit(hit, now)


def review_assignment(hit: HIT, assignment: Assignment, now: datetime) -> None:
    """Score work that was just handed in by its known answers; expects the HIT's lock."""
    policy = hit.review_policies.filter(level=ReviewLevel.ASSIGNMENT).first()
    if policy is None:
        return
    asked, subject = policy.parameters, ("Assignment", assignment.assignment_id)
    right, score = known_answers(asked["AnswerKey"], _answers(assignment))
    for name, is_right in right.items():
        _found(policy, subject, "KnownAnswerCorrect", int(is_right), name)
    _found(policy, subject, "KnownAnswerScore", score)
    said = f"Reviewed {len(right)} known answers; {sum(right.values())}/{len(right)} correct"
    _did(policy, subject, "review", now, said)
    # More work first, and all of it written: a decision may make the HIT complete, and compared.
    if _below(score, asked.get("ExtendIfKnownAnswerScoreIsLessThan")):
        _extend(policy, hit, now)
    policy.save()
    _decide(
        policy,
        hit,
        assignment,
        now,
        _at_least(score, asked.get("ApproveIfKnownAnswerScoreIsAtLeast")),
        _below(score, asked.get("RejectIfKnownAnswerScoreIsLessThan")),
    )
    policy.save()


def review_hit(hit: HIT, now: datetime) -> None:
    """Compare the answers of a HIT whose work is all in; expects its lock.

    Results are those of the last time, actions of every time.
    """
    policy = hit.review_policies.filter(level=ReviewLevel.HIT).first()
    rows = _compared(hit, policy) if policy is not None else []
    if policy is None or not rows:
        return
    asked, whole = policy.parameters, ("HIT", hit.hit_id)
    answers = {row.assignment_id: _answers(row) for row in rows}
    found = agreement(asked["QuestionIds"], asked["QuestionAgreementThreshold"], answers)
    policy.results = []
    for key, agreeing in found.agreeing.items():
        for name, is_so in agreeing.items():
            _found(policy, ("Assignment", key), "AgreedWithPlurality", int(is_so), name)
        if key in found.worker_scores:
            _found(policy, ("Assignment", key), "WorkerAgreementScore", found.worker_scores[key])
    for name, answer in found.agreed.items():
        _found(policy, whole, "PluralityAnswer", answer, name)
        _found(policy, whole, "PluralityLevel", found.levels[name], name)
    _found(policy, whole, "HITAgreementScore", found.hit_score)
    for row in rows:
        score = found.worker_scores.get(row.assignment_id)
        _decide(
            policy,
            hit,
            row,
            now,
            _at_least(score, asked.get("ApproveIfWorkerAgreementScoreIsAtLeast")),
            _below(score, asked.get("RejectIfWorkerAgreementScoreIsLessThan")),
        )
    if _below(found.hit_score, asked.get("ExtendIfHITAgreementScoreIsLessThan")):
        _extend(policy, hit, now)
    policy.save()


def _compared(hit: HIT, policy: ReviewPolicy) -> list[Assignment]:
    """Return the work that counts for agreement, in the order it came."""
    asked = policy.parameters
    rows = hit.assignments.filter(state__in=HANDED_IN)
    if asked.get("DisregardAssignmentIfRejected"):
        rows = rows.exclude(state=AssignmentState.REJECTED)
    least = asked.get("DisregardAssignmentIfKnownAnswerScoreIsLessThan")
    known = hit.review_policies.filter(level=ReviewLevel.ASSIGNMENT).first()
    low = [
        one["SubjectId"]
        for one in (known.results if known else [])
        if one["Key"] == "KnownAnswerScore" and _below(int(one["Value"]), least)
    ]
    return list(rows.exclude(assignment_id__in=low).order_by("submitted_at", "pk"))


def _answers(assignment: Assignment) -> dict[str, str]:
    return with_parts(answers_in(assignment.answer))


def _at_least(score: int | None, bound: int | None) -> bool:
    return score is not None and bound is not None and score >= bound


def _below(score: int | None, bound: int | None) -> bool:
    return score is not None and bound is not None and score < bound


def _decide(
    policy: ReviewPolicy,
    hit: HIT,
    assignment: Assignment,
    now: datetime,
    is_good: bool,
    is_bad: bool,
) -> None:
    """Approve or reject, as far as it is not decided already; good wins."""
    if not is_good and not is_bad:
        return
    name, goal = (
        ("approve", AssignmentState.APPROVED) if is_good else ("reject", AssignmentState.REJECTED)
    )
    subject = ("Assignment", assignment.assignment_id)
    if assignment.state == goal:
        _did(policy, subject, name, now, f"Already {goal}")
    elif assignment.state != AssignmentState.SUBMITTED:
        said = "Assignment was in an invalid state for this operation."
        _did(policy, subject, name, now, said, INVALID)
    elif is_good:
        assignment.feedback = policy.parameters.get("ApproveReason", "")
        refresh(hit, now, approve(hit, assignment, now))
        _did(policy, subject, name, now, "Approved")
    else:
        reject(hit, assignment, policy.parameters.get("RejectReason", ""), now)
        refresh(hit, now)
        _did(policy, subject, name, now, "Rejected")


def _extend(policy: ReviewPolicy, hit: HIT, now: datetime) -> None:
    """Ask one more worker, within the policy's bounds and the requester's money."""
    asked, subject = policy.parameters, ("HIT", hit.hit_id)
    most = asked.get("ExtendMaximumAssignments", MOST_PLACES)
    if hit.first_max_assignments < MANY_ASSIGNMENTS:
        most = min(most, MANY_ASSIGNMENTS - 1)
    if hit.max_assignments >= most:
        return
    previous = (hit.max_assignments, hit.expires_at)
    until = now + timedelta(seconds=asked.get("ExtendMinimumTimeInSeconds", 0))
    try:
        with atomic():
            hit.max_assignments, hit.expires_at = previous[0] + 1, max(previous[1], until)
            refresh(hit, now)
    except InsufficientFundsError as error:
        hit.max_assignments, hit.expires_at = previous
        refresh(hit, now)
        _did(policy, subject, "extend", now, str(error), "AWS.MechanicalTurk.InsufficientFunds")
    else:
        record_event(hit, "HITExtended", now)
        _did(policy, subject, "extend", now, f"Extended to {hit.max_assignments} assignments")


def _found(
    policy: ReviewPolicy, subject: tuple[str, str], key: str, value: object, question: str = ""
) -> None:
    result = {
        "ActionId": new_entity_id(),
        "SubjectId": subject[1],
        "SubjectType": subject[0],
        "Key": key,
        "Value": str(value),
    }
    policy.results.append(result | ({"QuestionId": question} if question else {}))


def _did(
    policy: ReviewPolicy,
    subject: tuple[str, str],
    name: str,
    now: datetime,
    said: str,
    error_code: str = "",
) -> None:
    action = {
        "ActionId": new_entity_id(),
        "ActionName": name,
        "TargetId": subject[1],
        "TargetType": subject[0],
        "Status": "Failed" if error_code else "Succeeded",
        "CompleteTime": now.isoformat(),
        "Result": said,
    }
    policy.actions.append(action | ({"ErrorCode": error_code} if error_code else {}))


SETTLE_AT_ONCE = 500
MENDED_EVERY_SECONDS = 3600
_mended = float("-inf")
DUE = PreparedQuery(
    lambda requester, now: HIT.objects.filter(
        requester=requester, next_due_at__lte=now
    ).values_list("pk")[:1],
    requester=int,
    now=datetime,
)


# With their types and requesters.
HITS = JoinedQuery(
    Table("hit", HIT, "*"),
    Table("kind", HITType, "*", "kind.id = hit.hit_type_id"),
    Table("requester", Requester, "*", "requester.id = hit.requester_id"),
)


@contextmanager
def locked(now: datetime, pk: int) -> Iterator[HIT]:
    """Hold the lock of one HIT, settled at `now`, for the length of the block (one transaction).

    Raises HIT.DoesNotExist. Code that changes an assignment calls `refresh` before the block ends.
    """
    with atomic():
        yield lock(now, id=pk)


def lock(now: datetime, preceding: Statements = (), **key: int | str) -> HIT:
    """Return the HIT with this `id` or `hit_id`, settled at `now`; as `locked`, in a transaction.

    Its lock is held until that ends. preceding: statements after which the HIT is looked for.
    Raises HIT.DoesNotExist.
    """
    [column] = key
    locking = "FOR UPDATE OF hit" if connections[DATABASE].vendor == "postgresql" else ""
    where = f"hit.{column} = %({column})s {locking}"
    # A HIT that got another type while this waited is not joined with that one: it is asked again.
    found = HITS.first(where, preceding, **key) or HITS.first(where, (), **key)
    if found is None:
        raise HIT.DoesNotExist
    hit, hit.hit_type, hit.requester = found
    settle(hit, now)
    return hit  # type: ignore[no-any-return]


def settle_account(requester: Requester, now: datetime) -> None:
    """Settle what is due among a requester's HITs.

    What was read before is out of date afterwards, also where nothing was due here any more:
    another process may have settled it since. Now and then all times are looked at, too.
    """
    global _mended
    if CLOCK.has_jumped():
        return
    if time.monotonic() - _mended > MENDED_EVERY_SECONDS:
        _mended = time.monotonic()
        mend_times(now)
    if DUE.first(requester=requester.pk, now=now) is not None:
        settle_due(now, requester=requester)


def settle_due(now: datetime, **scope: Any) -> None:
    """Settle every HIT in scope in which time has brought something about; see `settle`."""
    due = HIT.objects.filter(next_due_at__lte=now, **scope).order_by("pk").distinct()
    # By a clock that has jumped nothing is settled: it would be found due again and again.
    while not CLOCK.has_jumped() and (
        keys := list(due.values_list("pk", flat=True)[:SETTLE_AT_ONCE])
    ):
        for key in keys:
            with locked(now, pk=key):
                pass


def mend_times(now: datetime) -> int:
    """Move what a clock that was ahead has dated later to now; returns how many HITs had it.

    So it ends, or is approved, in its own time.
    """
    late = now + SKEW
    begun = Q(state=AssignmentState.ACCEPTED, accepted_at__gt=late)
    begun |= Q(state=AssignmentState.SUBMITTED, submitted_at__gt=late)
    begun |= Q(contest__answered_at=None, contest__raised_at__gt=late)
    rows = Assignment.objects.filter(begun).order_by("hit_id")
    keys = list(rows.values_list("hit_id", flat=True).distinct())
    for key in keys:
        with locked(now, pk=key) as hit:
            own = hit.assignments
            held = own.filter(state=AssignmentState.ACCEPTED)
            pull_back(held, "accepted_at", now, "deadline")
            waiting = own.filter(state=AssignmentState.SUBMITTED)
            pull_back(waiting, "submitted_at", now, "auto_approval_at")
            contests = Contest.objects.filter(assignment__hit=hit, answered_at=None)
            pull_back(contests, "raised_at", now, "due_at")
            refresh(hit, now)
    return len(keys)


def settle(hit: HIT, now: datetime) -> None:
    """Abandon what is past its deadline and approve what nobody decided; expects the HIT's lock.

    Nothing of that while the clock has just jumped: it may jump back, and this could not.
    """
    if hit.next_due_at is None or hit.next_due_at > now or CLOCK.has_jumped():
        return
    overdue = hit.assignments.filter(state=AssignmentState.ACCEPTED, deadline__lte=now)
    for assignment in overdue:
        assignment.state, assignment.ended_at = AssignmentState.ABANDONED, assignment.deadline
        assignment.save(update_fields=["state", "ended_at"])
        record_event(hit, "AssignmentAbandoned", assignment.deadline, assignment.assignment_id)
    undecided = hit.assignments.filter(state=AssignmentState.SUBMITTED, auto_approval_at__lte=now)
    paid_cents = 0
    for assignment in undecided.order_by("pk"):
        paid_cents += approve(hit, assignment, assignment.auto_approval_at)
    _approve_contested(hit, now)
    refresh(hit, now, paid_cents)


def _approve_contested(hit: HIT, now: datetime) -> None:
    """Approve rejected work whose contest nobody answered in time; expects the HIT's lock.

    A rejection freed its money, so the requester may have none left: it is then tried daily.
    """
    unanswered = Contest.objects.filter(
        assignment__hit=hit,
        assignment__state=AssignmentState.REJECTED,
        answered_at=None,
        due_at__lte=now,
    ).select_related("assignment")
    for contest in unanswered.order_by("assignment"):
        try:
            funds.move(hit.requester_id, 0, contest.assignment.reward_cents)
        except funds.InsufficientFundsError:
            contest.due_at = now + timedelta(days=1)
            contest.save(update_fields=["due_at"])
        else:
            approve(hit, contest.assignment, contest.due_at)
