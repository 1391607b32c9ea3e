"""The form POST from inside the frame that hands an assignment in."""

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from marketplace import clock
from marketplace.acceptance import TooLateError, submit
from marketplace.answers import RESERVED, answers_xml
from marketplace.models import Assignment
from marketplace.site.pages import harden

NOTHING_LOST = "Nothing was submitted or lost: go back and try again."


@csrf_exempt
def external_submit(request: HttpRequest, secret: str) -> HttpResponse:
    """Hand in the assignment whose acceptance this secret belongs to.

    The secret in the path proves the acceptance; no cookie reaches a frame on another site. The
    form carries `assignmentId` and at least one field more. Twice is the same as once.
    """
    if request.method != "POST":
        return reply(request, "A finished HIT is sent to this address by its own page.", 405)
    try:
        fields = [(name, list(values)) for name, values in request.POST.lists()]
    except (RequestDataTooBig, SuspiciousOperation):
        return reply(request, f"The answer is too large to be handed in here. {NOTHING_LOST}", 413)
    assignment = Assignment.objects.select_related("hit").filter(secret=secret).first()
    if assignment is None:
        return reply(request, f"This HIT is not known here. {NOTHING_LOST}", 404)
    if request.POST.get("assignmentId") != assignment.assignment_id:
        return reply(request, f"This form belongs to a different HIT. {NOTHING_LOST}", 400)
    if not any(name not in RESERVED for name, _ in fields):
        return reply(request, f"The form has no answer in it. {NOTHING_LOST}", 400)
    try:
        is_new = submit(assignment, answers_xml(fields), clock.now())
    except TooLateError as refusal:
        return reply(request, str(refusal), 409)
    sentence = "Submitted. Thank you." if is_new else "This HIT was submitted before. Thank you."
    return reply(request, sentence, 200)


def reply(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    """Return the small page shown in the frame; it tells the page around it when all went well."""
    context = {"sentence": sentence, "is_submitted": status == 200}
    response = render(request, "marketplace/in_frame.html", context, status=status)
    return harden(response, frame_ancestors="'self'")
