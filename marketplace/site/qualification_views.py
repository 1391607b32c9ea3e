"""A worker's qualifications, and the ways to more: asking, taking a test, doing a HIT."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.hits.access import (
    WayToEarn,
    is_earned_by_work,
    is_unlisted,
    ways_to_earn,
)
from marketplace.models import (
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    RequestState,
    Worker,
)
from marketplace.notifications.messages import SENTENCES
from marketplace.people.grants import (
    OPEN,
    NotTakenError,
    Outcome,
    begin,
    due_at,
    form_of,
    grant,
    hand_in,
    last_request,
)
from marketplace.people.requirements import record_of
from marketplace.router import atomic
from marketplace.templatetags.marketplace_words import duration
from marketplace.web.pages import PageError, first_or_error
from marketplace.web.worker_pages import SignedInRequest, leave_notice, show, worker_page


@dataclass(frozen=True)
class Offer:
    """A qualification the worker does not have, and how to come by it; `way` only if by work."""

    row: QualificationType
    way: WayToEarn | None


@worker_page
@require_safe
def qualifications(request: SignedInRequest) -> HttpResponse:
    """Show what the worker has, has asked for, and can come by."""
    worker = request.worker
    grants = QualificationGrant.objects.filter(worker=worker).select_related(
        "qualification_type__requester"
    )
    requests = QualificationRequest.objects.filter(worker=worker).select_related(
        "qualification_type__requester"
    )
    rows_held = list(grants.order_by("is_revoked", "-granted_at"))
    held = [grant.qualification_type_id for grant in rows_held if not grant.is_revoked]
    shown = [grant for grant in rows_held if is_listed(grant)]
    asked = [one.qualification_type_id for one in requests if one.state in OPEN]
    # A requester who has blocked a worker gives them nothing, so there is no use in asking.
    rows = (
        QualificationType.objects.filter(is_active=True, deleted_at=None)
        .exclude(Q(pk__in=[*held, *asked]) | Q(requester__blocks__worker=worker))
        .select_related("requester")
        .order_by("-pk")
    )
    ways = ways_to_earn(rows, record_of(worker), clock.now())
    # What is earned by work shows here only while there is a HIT to do or work being read.
    offers = [
        Offer(row, ways.get(row.pk))
        for row in rows
        if not is_unlisted(row) and (row.pk not in ways or ways[row.pk].is_open)
    ]
    return show(
        request,
        "qualifications.html",
        here="qualifications",
        grants=shown,
        requests=requests.exclude(state=RequestState.GRANTED).order_by("-pk"),
        offers=offers,
    )


def is_listed(grant: QualificationGrant) -> bool:
    """Return whether a qualification is shown to its worker; what was earned by work can be 0."""
    row = grant.qualification_type
    grant.is_declined = (  # type: ignore[attr-defined]
        is_earned_by_work(row) and grant.integer_value == 0
    )
    return not is_unlisted(row)


@worker_page
@require_POST
def ask(request: SignedInRequest, type_id: str) -> HttpResponse:
    """Ask the requester for a qualification; one that is granted by itself is had at once."""
    row = QualificationType.objects.filter(
        qualification_type_id=type_id, is_active=True, deleted_at=None
    ).first()
    if row is None:
        leave_notice(request, _("This qualification cannot be asked for any more."))
    elif row.test:
        return redirect("test", type_id=type_id)
    elif is_earned_by_work(row):
        leave_notice(request, _("This qualification is earned by doing a HIT, not by asking."))
    else:
        leave_notice(request, _ask(request.worker, row))
    return redirect("qualifications")


def _ask(worker: Worker, row: QualificationType) -> str:
    now, name = clock.now(), {"name": row.name}
    with atomic():
        # Two tabs of one worker wait for one another, or both would ask.
        worker = Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
        # The account may have been merged since the page read it.
        worker = worker.merged_into or worker
        held = row.grants.filter(worker=worker).first()
        if held is not None and not held.is_revoked:
            return _("You have “%(name)s” already.") % name
        if problem := _too_soon(worker, row):
            return problem
        # What its requester took away they alone give back.
        is_granted = row.is_auto_granted and held is None
        QualificationRequest.objects.create(
            qualification_type=row,
            worker=worker,
            state=RequestState.GRANTED if is_granted else RequestState.PENDING,
            submitted_at=now,
            decided_at=now if is_granted else None,
        )
        if is_granted:
            grant(row, worker, row.auto_granted_value, now)
            return _("You now have “%(name)s”.") % name
    return _("You asked for “%(name)s”. The answer will show here.") % name


def _too_soon(worker: Worker, row: QualificationType) -> str:
    """Return why this worker cannot ask for it at present, empty if they can."""
    last = last_request(row, worker, clock.now())
    if last is None:
        return ""
    name = {"name": row.name}
    if last.state in OPEN:
        sentence = _("You have asked for “%(name)s” already; the requester has not answered yet.")
        return sentence % name
    if row.retry_delay_seconds is None:
        sentence = _("“%(name)s” can be asked for once only, and you have asked for it.")
        return sentence % name
    again_at = last.submitted_at + timedelta(seconds=row.retry_delay_seconds)
    if clock.now() < again_at:
        # A stretch of time needs no clock: pages show hours in the reader's own zone and habit.
        wait = duration(max(60, int((again_at - clock.now()).total_seconds())))
        return _("You can ask for “%(name)s” again in %(wait)s.") % {**name, "wait": wait}
    return ""


NO_TEST = gettext_noop("This test is not given any more.")


@worker_page
def test(request: SignedInRequest, type_id: str) -> HttpResponse:
    """Show what the test asks for, begin it when the worker starts it, and take its answers.

    Answers belong to the attempt whose page they were typed on, and to no later one.
    """
    rows = QualificationType.objects.select_related("requester")
    row = first_or_error(rows.filter(qualification_type_id=type_id), NO_TEST)
    begun = row.requests.filter(worker=request.worker, state=RequestState.STARTED).first()
    if not row.test or (row.deleted_at is not None and begun is None):
        raise PageError(NO_TEST)
    if begun is not None and due_at(begun) < clock.now() and request.method != "POST":
        begun = None
    try:
        if request.method == "POST" and "begin" not in request.POST:
            attempts = row.requests.filter(worker=request.worker).exclude(test="")
            sent = attempts.filter(request_id=request.POST.get("attempt", ""))
            return _hand_in(request, row, first_or_error(sent, NO_TEST))
        if request.method == "POST":
            begin(request.worker, row, clock.now())
            return redirect("test", type_id=type_id)
    except NotTakenError as refusal:
        leave_notice(request, str(refusal))
        return redirect("qualifications")
    if begun is None:
        return show(request, "test_begin.html", here="qualifications", row=row)
    return _form(request, row, begun)


def _form(
    request: SignedInRequest,
    row: QualificationType,
    begun: QualificationRequest,
    status: int = 200,
    problems: tuple[str, ...] = (),
) -> HttpResponse:
    return show(
        request,
        "test.html",
        status=status,
        here="qualifications",
        row=row,
        form=form_of(begun),
        attempt=begun.request_id,
        due_at=due_at(begun),
        problems=problems,
        sent=dict(request.POST.lists()),
    )


def _hand_in(
    request: SignedInRequest, row: QualificationType, begun: QualificationRequest
) -> HttpResponse:
    outcome = hand_in(begun, dict(request.POST.lists()), clock.now())
    if outcome.problems:
        return _form(request, row, begun, 400, outcome.problems)
    if row.deleted_at is not None:
        leave_notice(request, _(SENTENCES["test_withdrawn"]))
    else:
        leave_notice(request, _sentence(row, outcome))
    return redirect("qualifications")


def _sentence(row: QualificationType, outcome: Outcome) -> str:
    if outcome.value is None:
        return _("Your test for “%(name)s” is handed in. The answer will show here.") % {
            "name": row.name
        }
    return _("Your score for “%(name)s” is %(score)s.") % {
        "name": row.name,
        "score": outcome.value,
    }
