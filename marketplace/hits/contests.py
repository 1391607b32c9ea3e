"""A worker contests a rejection; a requester answers, or the time to answer runs out."""

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from marketplace.hits.decisions import approve
from marketplace.hits.lifecycle import locked
from marketplace.hits.review_policies import refresh
from marketplace.models import Assignment, AssignmentState, Contest, Requester
from marketplace.notifications.decision_messages import reason_of, tell_of_work

ANSWER_WITHIN = timedelta(days=7)
RAISED_WITHIN = timedelta(days=30)
LONGEST_TEXT = 2000
LONGEST_ANSWER = 1024
SETTLED = "This contest is settled already."


class ContestError(ValueError):
    """The rejection cannot be contested, or the contest not answered; the message says why."""


def can_contest(assignment: Assignment, now: datetime) -> bool:
    """Tell whether a word against this rejection may still be raised; expects `contest` loaded."""
    return (
        assignment.state == AssignmentState.REJECTED
        and not hasattr(assignment, "contest")
        and assignment.rejected_at is not None
        and now <= assignment.rejected_at + RAISED_WITHIN
    )


def raise_contest(assignment: Assignment, text: str, now: datetime) -> Contest:
    """Return the contest of a rejection, raised now or before; unanswered in time, it approves.

    Raises ContestError when there is nothing (left) to contest or the text is empty or too long.
    """
    text = text.strip()
    if not 1 <= len(text) <= LONGEST_TEXT:
        raise ContestError(
            _("Say in 1 to %(most)s characters why the work should be paid.")
            % {"most": LONGEST_TEXT}
        )
    with locked(now, pk=assignment.hit_id) as hit:
        assignment = Assignment.objects.select_related("contest").get(pk=assignment.pk)
        if hasattr(assignment, "contest"):
            return assignment.contest
        if not can_contest(assignment, now):
            raise ContestError(
                _("Only rejected work can be contested, up to %(days)s days after the rejection.")
                % {"days": RAISED_WITHIN.days}
            )
        contest = Contest.objects.create(
            assignment=assignment, text=text, raised_at=now, due_at=now + ANSWER_WITHIN
        )
        refresh(hit, now)
        return contest


def unanswered_contests(requester: Requester | None = None) -> QuerySet[Contest]:
    """Return the contests that wait for an answer, of one requester or of all, oldest first."""
    rows = Contest.objects.filter(answered_at=None, assignment__state=AssignmentState.REJECTED)
    if requester is not None:
        rows = rows.filter(assignment__hit__requester=requester)
    return rows.select_related("assignment__hit__hit_type__requester").order_by("due_at", "pk")


def grant_contest(contest: Contest, now: datetime) -> None:
    """Approve contested work after all, as its time would: whatever became of the HIT meanwhile.

    Raises ContestError when it is settled, InsufficientFundsError when it cannot be paid.
    """
    with locked(now, pk=contest.assignment.hit_id) as hit:
        assignment = hit.assignments.get(pk=contest.assignment_id)
        if assignment.state != AssignmentState.REJECTED:
            raise ContestError(SETTLED)
        refresh(hit, now, approve(hit, assignment, now))


def keep_rejection(contest: Contest, answer: str, now: datetime) -> None:
    """Answer a contest and keep the rejection; approving instead answers it by itself.

    Raises ContestError when it was answered, the work was approved, or the answer says nothing.
    """
    answer = answer.strip()
    if not 1 <= len(answer) <= LONGEST_ANSWER:
        raise ContestError(f"Answer the worker in 1 to {LONGEST_ANSWER} characters.")
    with locked(now, pk=contest.assignment.hit_id) as hit:
        changed = Contest.objects.filter(
            pk=contest.pk, answered_at=None, assignment__state=AssignmentState.REJECTED
        ).update(answer=answer, answered_at=now)
        if not changed:
            raise ContestError(SETTLED)
        tell_of_work(hit, contest.assignment, "rejection_stays", reason_of(answer), now)
        refresh(hit, now)
