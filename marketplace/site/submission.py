"""The form POST from inside the frame that hands an assignment in."""

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import csrf_exempt

from marketplace import clock
from marketplace.acceptance import TooLateError, submit
from marketplace.answers import RESERVED, answers_xml
from marketplace.models import Assignment
from marketplace.site.languages import speaking
from marketplace.site.pages import harden

NOTHING_LOST = gettext_noop("Nothing was submitted or lost: go back and try again.")


@csrf_exempt
def external_submit(request: HttpRequest, secret: str) -> HttpResponse:
    """Hand in the assignment whose acceptance this secret belongs to.

    The secret in the path proves the acceptance; no cookie reaches a frame on another site. The
    form carries `assignmentId` and at least one field more. Twice is the same as once.
    """
    assignment = Assignment.objects.select_related("hit", "worker").filter(secret=secret).first()
    with speaking(request, assignment.worker.language if assignment else ""):
        return _hand_in(request, assignment)


def _hand_in(request: HttpRequest, assignment: Assignment | None) -> HttpResponse:
    if request.method != "POST":
        return reply(request, _("A finished HIT is sent to this address by its own page."), 405)
    try:
        fields = [(name, list(values)) for name, values in request.POST.lists()]
    except (RequestDataTooBig, SuspiciousOperation):
        return _refused(request, _("The answer is too large to be handed in here."), 413)
    if assignment is None:
        return _refused(request, _("This HIT is not known here."), 404)
    if request.POST.get("assignmentId") != assignment.assignment_id:
        return _refused(request, _("This form belongs to a different HIT."), 400)
    if not any(name not in RESERVED for name, _ in fields):
        return _refused(request, _("The form has no answer in it."), 400)
    try:
        is_new = submit(assignment, answers_xml(fields), clock.now())
    except TooLateError as refusal:
        return reply(request, str(refusal), 409)
    if is_new:
        return reply(request, _("Submitted. Thank you."), 200)
    return reply(request, _("This HIT was submitted before. Thank you."), 200)


def _refused(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    return reply(request, f"{sentence} {_(NOTHING_LOST)}", status)


def reply(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    """Return the small page shown in the frame; it tells the page around it when all went well."""
    heading = _("Submitted") if status == 200 else _("Not submitted")
    context = {"heading": heading, "sentence": sentence, "is_submitted": status == 200}
    response = render(request, "marketplace/in_frame.html", context, status=status)
    return harden(response, frame_ancestors="'self'")
