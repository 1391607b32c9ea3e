"""What a page that cannot be made for a while gives back: it comes again, with what was sent."""

import random
import sys

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from common.outages import missing

STATUS = 503
# Everybody waits for the same service: they do not come back all at once.
SOONEST_SECONDS, LATEST_SECONDS = 5, 15
FORM = "application/x-www-form-urlencoded"
UNREAD = (SuspiciousOperation, MultiPartParserError, UnreadablePostError)

Fields = list[tuple[str, str]]


def is_away() -> bool:
    """Return whether the error being handled says that a service is away, and no fault of ours."""
    error = sys.exc_info()[1]
    return error is not None and missing(error) is not None


def sent_fields(request: HttpRequest) -> Fields:
    """Return what a form sent, for the same form in the page that answers it; [] for none.

    Files cannot be sent again from a page, and passwords do not go back into one.
    """
    if request.method != "POST" or request.content_type != FORM:
        return []
    try:
        fields = [(name, str(one)) for name, all_ in request.POST.lists() for one in all_]
    except UNREAD:
        return []
    return [] if any("password" in name for name, _ in fields) else fields


def come_again(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return the response, marked as one of a moment: a page that was opened opens itself again."""
    seconds = random.randint(SOONEST_SECONDS, LATEST_SECONDS)
    response.status_code = STATUS
    response.headers["Retry-After"] = str(seconds)
    response.headers["Cache-Control"] = "no-store"
    if request.method == "GET":
        response.headers["Refresh"] = str(seconds)
    return response
