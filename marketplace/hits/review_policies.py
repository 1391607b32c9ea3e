"""Applies a HIT's review policies: decides work, asks for more, and writes down why."""

from datetime import datetime, timedelta

from django.db import transaction

from marketplace.hits.counters import update_counters
from marketplace.hits.decisions import approve, reject
from marketplace.hits.questions.answers import answers_in, with_parts
from marketplace.hits.review_rules import agreement, known_answers
from marketplace.models import (
    HANDED_IN,
    HIT,
    Assignment,
    AssignmentState,
    ReviewLevel,
    ReviewPolicy,
)
from marketplace.models.identifiers import new_entity_id
from marketplace.money.funds import InsufficientFundsError
from marketplace.notifications.events import record_event
from marketplace.router import DATABASE

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
    before = (hit.max_assignments, hit.expires_at)
    until = now + timedelta(seconds=asked.get("ExtendMinimumTimeInSeconds", 0))
    try:
        with transaction.atomic(using=DATABASE):
            hit.max_assignments, hit.expires_at = before[0] + 1, max(before[1], until)
            refresh(hit, now)
    except InsufficientFundsError as error:
        hit.max_assignments, hit.expires_at = before
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
