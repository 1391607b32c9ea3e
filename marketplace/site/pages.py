"""What all pages share: who is signed in, what browsers may do with them, how they are drawn."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import decorator_from_middleware
from django.utils.translation import gettext_noop

from common.prepared_sql import PreparedQuery
from common.storable import without_nul
from marketplace.models import Message, Worker, WorkerSession
from marketplace.site.languages import language_active
from marketplace.site.page_error import PageError
from marketplace.site.signing_in.sessions import session_of

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-src {frame_src}; frame-ancestors {frame_ancestors}"
)

NOT_A_PAGE_HEADING = gettext_noop("Not a page")
NOT_A_PAGE = gettext_noop("This address only takes what a form sends. Go on from the first page.")
NOT_SENT_HEADING = gettext_noop("Not sent")
NOT_SENT = gettext_noop(
    "The form did not come with the cookie of its page, so nothing was changed. Allow cookies "
    "for this site, open the page again and send the form once more."
)

UNREAD = PreparedQuery(
    lambda worker: (
        Message.objects.filter(worker=worker, is_from_worker=False, read_at=None)
        .order_by()
        .values("worker")
        .annotate(n=Count("pk"))
        .values_list("n")
    ),
    worker=int,
)

Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponse]


class SignedInRequest(HttpRequest):
    """A request of a signed-in worker, as `worker_page` hands it on."""

    worker: Worker
    worker_session: WorkerSession


WorkerView = Callable[Concatenate[SignedInRequest, Arguments], HttpResponse]


def harden(
    response: HttpResponse, frame_src: str = "'none'", frame_ancestors: str = "'none'"
) -> HttpResponse:
    """Set the headers of every page: no foreign script, no framing, nothing kept in caches.

    The `*_exempt` marks keep a surrounding project's middleware from adding its own.
    """
    response["Content-Security-Policy"] = POLICY.format(
        frame_src=frame_src, frame_ancestors=frame_ancestors
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Referrer-Policy"] = "same-origin"
    response["Cache-Control"] = "no-store"
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    return response


class FormCheck(CsrfViewMiddleware):
    """Django's own check of a form's token; what a visitor then reads is our error page."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        raise PageError(NOT_SENT, 403, NOT_SENT_HEADING, leads_back=True)


form_checked = decorator_from_middleware(FormCheck)


def page(view: View[Arguments]) -> View[Arguments]:
    """Make a view a page of the marketplace for anybody: checked forms, hardened replies."""

    @wraps(view)
    def hardened(
        request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        request.GET = without_nul(request.GET)  # type: ignore[assignment]
        request.POST = without_nul(request.POST)  # type: ignore[assignment]
        with language_active(request):
            response = view(request, *args, **kwargs)
        if response.status_code == 405 and response.has_header("Allow"):
            raise PageError(NOT_A_PAGE, 405, NOT_A_PAGE_HEADING, allowed=response["Allow"])
        return response if response.has_header("Content-Security-Policy") else harden(response)

    checked: View[Arguments] = form_checked(hardened)  # type: ignore[assignment]
    # The check above is the only one: a surrounding project's would refuse on a page of its own.
    checked.csrf_exempt = True  # type: ignore[attr-defined]
    return checked


def worker_page(view: WorkerView[Arguments]) -> View[Arguments]:
    """Make a view a page for signed-in workers; others are sent to sign in and come back."""

    @wraps(view)
    def signed_in(
        request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        session = session_of(request)
        if session is None:
            back = {"next": request.get_full_path()} if request.method == "GET" else {}
            return redirect(reverse("home") + ("?" + urlencode(back) if back else ""))
        request.worker, request.worker_session = session.worker, session  # type: ignore[attr-defined]
        with language_active(request, session.worker.language):
            return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return page(signed_in)


def show(
    request: SignedInRequest, template: str, status: int = 200, **context: Any
) -> HttpResponse:
    """Return a page drawn for the signed-in worker; a waiting notice is shown and used up."""
    context["worker"] = request.worker
    context["notice"] = take_notice(request)
    (context["n_unread"],) = UNREAD.first(worker=request.worker.pk) or (0,)
    return draw(request, template, status, **context)


def draw(request: HttpRequest, template: str, status: int = 200, **context: Any) -> HttpResponse:
    """Return a page drawn for anybody; `back` is where a change of language leads."""
    context["back"] = request.get_full_path() if request.method == "GET" else ""
    return render(request, f"marketplace/{template}", context, status=status)


def take_notice(request: SignedInRequest) -> str:
    """Return the sentence that waits for this worker's next page, and forget it."""
    notice = request.worker_session.notice
    if notice:
        leave_notice(request, "")
    return notice


def leave_notice(request: SignedInRequest, sentence: str) -> None:
    """Keep one sentence for the worker's next page, unless the session has been ended since."""
    session = request.worker_session
    session.notice = sentence[:300]
    WorkerSession.objects.filter(pk=session.pk).update(notice=session.notice)
