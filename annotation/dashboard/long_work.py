"""Has what was given up tried again: a release, an upload, a rehearsal, a baseline, a judging."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.dashboard.access import requester_required
from annotation.jobs import LONG_WORK
from common.visitors import safe_next_url


@requester_required
@require_POST
def try_again(request: HttpRequest, kind: str, number: int) -> HttpResponse:
    """Have a row wait again with all its tries, and show the page that the form names."""
    if kind not in LONG_WORK:
        raise Http404
    row = get_object_or_404(LONG_WORK[kind][0], pk=number)
    if not row.try_again():
        messages.info(request, "It does not wait for that: it was tried again already, or anew.")
    return redirect(safe_next_url(request, "/"))
