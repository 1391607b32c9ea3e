"""What all pages share: who is signed in, what browsers may do with them, how they are drawn."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from common.prepared_sql import PreparedQuery
from marketplace.models import Message, Worker, WorkerSession
from marketplace.site.languages import language_active
from marketplace.site.signing_in.sessions import session_of
from marketplace.web.pages import View, draw, page

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


class SignedInRequest(HttpRequest):
    """A request of a signed-in worker, as `worker_page` hands it on."""

    worker: Worker
    worker_session: WorkerSession


WorkerView = Callable[Concatenate[SignedInRequest, Arguments], HttpResponse]


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
