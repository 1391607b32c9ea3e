"""What a worker does with an assignment: accept, return, submit, contest; under the HIT's lock."""

from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from common.prepared_sql import PreparedQuery, insert
from marketplace.configuration import auto_approval_cap_seconds, queue_limit
from marketplace.fault_injection import faults_of
from marketplace.hits.facts import observe
from marketplace.hits.lifecycle import approve, lock, locked, refresh, review_assignment
from marketplace.models import (
    HANDED_IN,
    HIT,
    LIVE,
    Assignment,
    AssignmentState,
    Contest,
    HITType,
    Requester,
    Worker,
    WorkerBlock,
)
from marketplace.models.identifiers import new_entity_id
from marketplace.notifications.events import record_event
from marketplace.notifications.messages import notify_of_work, reason_of
from marketplace.people.requirements import access_to, record_for
from marketplace.questions.question import GRACE_SECONDS
from marketplace.router import atomic

# The least by which two times differ in the database.
NEXT = timedelta(microseconds=1)
HANDING_IN = ("state", "answer", "submitted_at", "auto_approval_at", "ended_at", "form_key")


WORKER_LOCK = PreparedQuery(
    lambda worker: (
        Worker.objects.select_for_update(no_key=True).filter(pk=worker).values_list("pk")
    ),
    worker=int,
)
HELD = PreparedQuery(
    lambda hit, worker: (
        Assignment.objects.filter(hit=hit, worker=worker, state__in=LIVE)
        .order_by("pk")
        .values_list("pk")
    ),
    hit=int,
    worker=int,
)
IN_THE_WAY = PreparedQuery(
    lambda worker, kind, now: (
        _in_the_way(worker, now).filter(hit__hit_type=kind).order_by().values_list("pk")[:1]
    ),
    worker=int,
    kind=int,
    now=datetime,
)
# Of an open account.
QUEUE_LENGTH = PreparedQuery(
    lambda worker, now: (
        Worker.objects.filter(pk=worker, is_active=True)
        .annotate(
            n=Subquery(
                Assignment.objects.filter(
                    worker=OuterRef("pk"), state=AssignmentState.ACCEPTED, deadline__gt=now
                )
                .order_by()
                .values("worker")
                .annotate(n=Count("pk"))
                .values("n")
            )
        )
        .values_list("n")
    ),
    worker=int,
    now=datetime,
)
LAST_SUBMISSION = PreparedQuery(
    lambda hit: (
        Assignment.objects.filter(hit=hit, submitted_at__isnull=False)
        .order_by("-submitted_at")
        .values_list("submitted_at")[:1]
    ),
    hit=int,
)
GIVEN_UP = PreparedQuery(lambda hit: _given_up(hit).values_list("assignment_id")[:1], hit=int)


class RefusedError(Exception):
    """The worker cannot do this; the message is a sentence for them."""


class NotThisError(RefusedError):
    """The worker cannot have this HIT; another one of its kind may be free."""


class TooLateError(RefusedError):
    """The acceptance is over; what was sent is kept but does not count."""


def accept(worker: Worker, hit_id: str, now: datetime) -> Assignment:
    """Return the worker's acceptance of this HIT, made now or already held.

    Raises RefusedError when there is no slot, no right to it, or the HIT was done already.
    """
    try:
        return _accept(worker, now, hit_id=hit_id)
    except HIT.DoesNotExist:
        gone = _("This HIT is no longer here. Choose another one from the list.")
        raise NotThisError(gone) from None


def accept_next(
    worker: Worker, hit_type: HITType, now: datetime, seen: str = "", form_key: str = ""
) -> Assignment:
    """Return an acceptance of some HIT of this type; raises RefusedError when none can be had.

    seen: the HIT that the worker looked at, which comes first; form_key: the form in which they
    ask, which gets them one HIT, however often it is sent.
    """
    if made := _made_in(worker, form_key):
        return made
    if seen:
        try:
            return _accept(worker, now, form_key, hit_id=seen)
        except (NotThisError, HIT.DoesNotExist):
            pass
    tried: list[int] = []
    rows = available_of(hit_type.pk, worker, now).values_list("pk", flat=True)
    while (key := rows.exclude(pk__in=tried).first()) is not None:
        try:
            return _accept(worker, now, form_key, id=key)
        except NotThisError:
            # Another worker was quicker here; the next HIT may still be free.
            tried.append(key)
    raise RefusedError(_("No more of these HITs are available to you just now."))


def available_of(kind: int, worker: Worker, now: datetime) -> QuerySet[HIT]:
    """Return the available HITs of a type in the order in which the worker is offered them.

    A place that somebody's late work can still take comes after free ones. What the worker gave
    back before comes last, so that "next" does not hand it over again.
    """
    of_hit = Assignment.objects.filter(hit=OuterRef("pk"))
    late = of_hit.filter(_ran_out_lately(now))
    rows = available_hits(worker, now).filter(hit_type=kind)
    rows = rows.annotate(was_mine=Exists(of_hit.filter(worker=worker)), is_awaited=Exists(late))
    return rows.order_by("was_mine", "is_awaited", "pk")


def _ran_out_lately(now: datetime) -> Q:
    """Return which assignments ran out of time and are still in their grace."""
    since = now - timedelta(seconds=GRACE_SECONDS)
    return Q(state=AssignmentState.ABANDONED, deadline__gte=since)


def available_hits(worker: Worker, now: datetime) -> QuerySet[HIT]:
    """Return the HITs with an open slot that the worker neither holds nor has handed in.

    Nor those of a type that can be done once, or held one at a time, where they have another.
    """
    mine = Assignment.objects.filter(hit=OuterRef("pk"), worker=worker, state__in=LIVE)
    return (
        HIT.objects.filter(disposed_at=None, expires_at__gt=now, n_open__gt=0)
        .exclude(Exists(mine))
        .exclude(hit_type__in=_in_the_way(worker, now).values("hit__hit_type"))
    )


def _in_the_way(worker: Worker | int, now: datetime) -> QuerySet[Assignment]:
    """Return the worker's assignments because of which others of their types cannot be taken."""
    # One whose time is up may not be settled yet.
    held = Q(state=AssignmentState.ACCEPTED, deadline__gt=now)
    once = Q(hit__hit_type__is_once=True) & (held | Q(state__in=HANDED_IN))
    at_a_time = Q(hit__hit_type__is_one_at_a_time=True) & held
    return Assignment.objects.filter(once | at_a_time, worker=worker)


def _made_in(worker: Worker, form_key: str) -> Assignment | None:
    if not form_key:
        return None
    return Assignment.objects.filter(worker=worker, form_key=form_key, state__in=LIVE).first()


def _accept(worker: Worker, now: datetime, form_key: str = "", **key: int | str) -> Assignment:
    """Return the worker's acceptance of the HIT with this `id` or `hit_id`."""
    with atomic():
        # Two tabs of one worker wait for one another, or both could pass the limit of the queue.
        locking = WORKER_LOCK.bound(worker=worker.pk)
        hit = lock(now, [locking], **key)
        # Behind the worker's lock: the same form may have come twice at once.
        if made := _made_in(worker, form_key):
            return made
        row = HELD.first(hit=hit.pk, worker=worker.pk)
        if row is not None:
            held = hit.assignments.get(pk=row[0])
            if held.state == AssignmentState.ACCEPTED:
                return held
            raise NotThisError(_("You have already done this HIT. Choose another one."))
        _check_may_accept(worker, hit, now)
        assignment = Assignment(
            hit=hit,
            worker=worker,
            assignment_id=_slot_id(hit),
            reward_cents=hit.hit_type.reward_cents,
            form_key=form_key,
            accepted_at=now,
            deadline=now + timedelta(seconds=hit.hit_type.assignment_duration_seconds),
        )
        insert(assignment)
        record_event(hit, "AssignmentAccepted", now, assignment.assignment_id)
        refresh(hit, now)
        return assignment


def may_accept(worker: Worker, hit: HIT, now: datetime) -> bool:
    """Return whether the worker can accept the HIT now; accepting looks again, behind its lock."""
    try:
        _check_may_accept(worker, hit, now)
    except RefusedError:
        return False
    return True


def _check_may_accept(worker: Worker, hit: HIT, now: datetime) -> None:
    if not hit.is_assignable(now):
        raise NotThisError(_("Somebody else has just taken this HIT. Choose another one."))
    is_bounded = hit.hit_type.is_once or hit.hit_type.is_one_at_a_time
    if is_bounded and IN_THE_WAY.first(worker=worker.pk, kind=hit.hit_type_id, now=now):
        raise RefusedError(_("You have a HIT of this kind, and nobody can have two of it."))
    if not access_to(hit.hit_type, record_for(worker, hit.hit_type)).can_accept:
        raise RefusedError(_("This HIT asks for a qualification that you do not have yet."))
    row = QUEUE_LENGTH.first(worker=worker.pk, now=now)
    if row is None:
        # It was closed, merged or erased while this waited for its lock.
        raise RefusedError(_("This account is closed. Ask the host of the marketplace."))
    if (row[0] or 0) >= queue_limit():
        raise RefusedError(
            _("You hold %(most)s HITs already. Finish or return one, then accept this one.")
            % {"most": queue_limit()}
        )


def _slot_id(hit: HIT) -> str:
    """Return the assignment id of a slot that was given up, else a new one, as MTurk did."""
    if not faults_of(hit.requester).reused_assignment_ids:
        return new_entity_id()
    row = GIVEN_UP.first(hit=hit.pk)
    return row[0] if row else new_entity_id()


def _given_up(hit: int) -> QuerySet[Assignment]:
    """Return the assignments of the HIT whose ids are free to be given out again, newest first."""
    live = Assignment.objects.filter(assignment_id=OuterRef("assignment_id"), state__in=LIVE)
    own = Assignment.objects.filter(hit=hit)
    return own.exclude(state__in=LIVE).exclude(Exists(live)).order_by("-pk")


def give_back(assignment: Assignment, now: datetime) -> None:
    """Return an accepted assignment, so that another worker can have its place.

    Doing it twice is the same as once; raises RefusedError when it was handed in already.
    """
    with locked(now, pk=assignment.hit_id) as hit:
        assignment.refresh_from_db()
        if assignment.state in HANDED_IN:
            raise RefusedError(_("You have submitted this HIT already, so it cannot be returned."))
        if assignment.state == AssignmentState.ACCEPTED:
            assignment.state, assignment.ended_at = AssignmentState.RETURNED, now
            assignment.save(update_fields=["state", "ended_at"])
            record_event(hit, "AssignmentReturned", now, assignment.assignment_id)
            refresh(hit, now)


def can_extend(assignment: Assignment, now: datetime) -> bool:
    """Return whether the worker may have the more time that the HIT type states: once, in time."""
    return (
        assignment.state == AssignmentState.ACCEPTED
        and not assignment.is_extended
        and assignment.deadline > now
        and assignment.hit.hit_type.stated.extension_minutes > 0
    )


def extend(assignment: Assignment, now: datetime) -> None:
    """Move the deadline by what the HIT type states; raises RefusedError where it may not be."""
    with locked(now, pk=assignment.hit_id) as hit:
        assignment.refresh_from_db()
        if not can_extend(assignment, now):
            raise RefusedError(_("More time can be asked for once, before the time is up."))
        assignment.deadline += timedelta(minutes=hit.hit_type.stated.extension_minutes)
        assignment.is_extended = True
        assignment.save(update_fields=["deadline", "is_extended"])
        refresh(hit, now)


def submit(assignment: Assignment, answer: str, now: datetime) -> bool:
    """Hand in an answer; returns False when it had been handed in before (the first one stays).

    Raises TooLateError when the acceptance is over; the answer is then kept beside it.
    """
    refusal = None
    with atomic():
        # Late work takes its place again: it waits for the worker's other tabs, as accepting does.
        is_late = assignment.deadline <= now
        locking = [WORKER_LOCK.bound(worker=assignment.worker_id)] if is_late else []
        hit = lock(now, locking, id=assignment.hit_id)
        assignment.refresh_from_db()
        if assignment.state in HANDED_IN:
            return False
        if assignment.state != AssignmentState.ACCEPTED and not can_come_late(assignment, hit, now):
            refusal = _keep_late(assignment, answer)
        else:
            # A type may be older than the host's present cap.
            promised = assignment.auto_approval_delay_seconds
            if promised is None:
                promised = hit.hit_type.auto_approval_delay_seconds
            delay = timedelta(seconds=min(promised, auto_approval_cap_seconds()))
            assignment.state, assignment.answer = AssignmentState.SUBMITTED, answer
            # Work is listed in this order page by page: what waited for the lock comes after what
            # was handed in meanwhile, whatever the clocks of two machines say.
            (before,) = LAST_SUBMISSION.first(hit=hit.pk) or (now - NEXT,)
            assignment.submitted_at = max(now, before + NEXT)
            assignment.auto_approval_at = now + delay
            assignment.ended_at = None
            if is_late:
                # The form it was accepted in may have got them another HIT meanwhile.
                assignment.form_key = ""
            # Whose work it is stays as it is: the account may be merged into another meanwhile.
            assignment.save(update_fields=HANDING_IN)
            record_event(hit, "AssignmentSubmitted", now, assignment.assignment_id)
            if hit.has_review_policies:
                review_assignment(hit, assignment, now)
            refresh(hit, now)
    if refusal is not None:
        # Raised outside the transaction, which has to commit what was kept.
        raise refusal
    observe(assignment)
    return True


def keep_aside(assignment: Assignment, answer: str, now: datetime) -> None:
    """Keep beside an acceptance what may be its answer, as late work is kept.

    It counts for nothing: a form that does not say whose it is must not hand in for the
    holder, nor be lost.
    """
    with locked(now, pk=assignment.hit_id):
        assignment.refresh_from_db()
        _keep_late(assignment, answer)


def late_work(worker: Worker, now: datetime) -> list[Assignment]:
    """Return what ran out of time and can still be handed in, the most urgent first.

    Expects that what is due among the worker's assignments is settled.
    """
    mine = Assignment.objects.filter(_ran_out_lately(now), worker=worker)
    lately = mine.select_related("worker", "hit__hit_type__requester")
    return [one for one in lately.order_by("deadline") if can_come_late(one, one.hit, now)]


def can_come_late(assignment: Assignment, hit: HIT, now: datetime) -> bool:
    """Return whether work that came after the deadline still finds its own place free.

    And its worker still welcome: one who was blocked since may hand in what they hold in time,
    but take no place again.
    """
    in_grace = now <= assignment.deadline + timedelta(seconds=GRACE_SECONDS)
    if assignment.state != AssignmentState.ABANDONED or not in_grace or not hit.is_assignable(now):
        return False
    if assignment.reward_cents > hit.hit_type.reward_cents:
        return False  # the money held for an open place would not cover what was promised
    worker = assignment.worker_id
    if hit.hit_type.is_once and IN_THE_WAY.first(worker=worker, kind=hit.hit_type_id, now=now):
        return False
    if WorkerBlock.objects.filter(requester=hit.requester_id, worker=worker).exists():
        return False
    live = Assignment.objects.filter(state__in=LIVE)
    is_id_taken = live.filter(assignment_id=assignment.assignment_id).exists()
    is_held_anew = live.filter(hit=hit, worker=worker).exists()
    return not is_id_taken and not is_held_anew


def _keep_late(assignment: Assignment, answer: str) -> TooLateError:
    if not assignment.late_answer:
        assignment.late_answer = answer
        assignment.save(update_fields=["late_answer"])
    if assignment.state == AssignmentState.RETURNED:
        return TooLateError(
            _(
                "You returned this HIT before, so it could not be submitted. What you sent was "
                "kept; accept the HIT again to submit it."
            )
        )
    return TooLateError(
        _(
            "The time for this HIT ran out, and it cannot be submitted any more. What you sent was "
            "kept: write to the requester, who can still pay you for it."
        )
    )


ANSWER_WITHIN = timedelta(days=7)
RAISED_WITHIN = timedelta(days=30)
LONGEST_TEXT = 2000
LONGEST_ANSWER = 1024
SETTLED = "This contest is settled already."


class ContestError(ValueError):
    """The rejection cannot be contested, or the contest not answered; the message says why."""


def can_contest(assignment: Assignment, now: datetime) -> bool:
    """Return whether this rejection can still be contested; expects `contest` loaded."""
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
        notify_of_work(hit, contest.assignment, "rejection_stays", reason_of(answer), now)
        refresh(hit, now)
