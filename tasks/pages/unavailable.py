"""The page for what failed on our side, and for a moment in which the database is away."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.defaults import server_error as broken

from common import outages
from tasks.pages.entry_views import frameable
from tasks.pages.notice_pages import notice

TITLE = "Back in a moment"
SAFE = "Our database does not answer right now. What was saved is safe"
LOOKS_AGAIN = f"{SAFE}, and this page opens itself again."
KEPT_HERE = f"{SAFE}, and what you just sent is kept in this page: send it again in a moment."
GO_BACK = f"{SAFE}: go back and send the form again in a moment."
KEEP = f"{SAFE}, and what you have written is kept in this page."
AGAIN = "Send it again"
BROKEN = "Something broke on our side"
BROKEN_HERE = (
    "It is written in our log, and what was saved is safe. Reload the page. If it happens again, "
    "return the HIT: that does not count against you."
)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Return the page for a fault of ours, or for a service that is away; it needs no database."""
    is_script = request.content_type == "application/json"
    is_framed = request.path.startswith(reverse("hit")) and not is_script
    if not outages.is_away():
        return _broken_in_frame(request) if is_framed else broken(request)
    if is_script:
        # A script of a page has asked: the page keeps its text and asks again.
        return outages.with_retry(request, JsonResponse({"message": KEEP}))
    fields = outages.sent_fields(request)
    message = LOOKS_AGAIN if request.method == "GET" else KEPT_HERE if fields else GO_BACK
    form = {"action": request.get_full_path(), "fields": fields, "label": AGAIN}
    if is_framed:
        return _in_frame(request, message, form)
    again = form if fields else None
    context = {"title": TITLE, "message": message, "again": again}
    return outages.with_retry(request, render(request, "503.html", context))


@frameable
def _broken_in_frame(request: HttpRequest) -> HttpResponse:
    return notice(request, BROKEN, BROKEN_HERE, status=500)


@frameable
def _in_frame(request: HttpRequest, message: str, form: dict[str, object]) -> HttpResponse:
    if not form["fields"]:
        return outages.with_retry(request, notice(request, TITLE, message))
    # The notice's forms have one value for each name, as all forms of the frame do.
    fields = dict(form["fields"])  # type: ignore[call-overload]
    page = notice(request, TITLE, message, form={**form, "fields": fields})
    return outages.with_retry(request, page)
