"""Taking the test of a qualification: begin, answer within its time, read the outcome."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplace import clock
from marketplace.models import QualificationRequest, QualificationType, RequestState
from marketplace.notifications.system_messages import SENTENCES
from marketplace.people.qualifications.taking_tests import (
    NotTakenError,
    Outcome,
    begin,
    due_at,
    form_of,
    hand_in,
)
from marketplace.site.pages import SignedInRequest, leave_notice, show, worker_page
from marketplace.web.pages import PageError, first_or_error

NO_TEST = gettext_noop("This test is not given any more.")


@worker_page
def test(request: SignedInRequest, type_id: str) -> HttpResponse:
    """Say what the test asks for, begin it when the worker says so, and take its answers in.

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
