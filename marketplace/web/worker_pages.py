"""What workers' pages share: who is signed in, how pages are drawn, notices."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from common.prepared_sql import JoinedQuery, PreparedQuery, Table
from marketplace import clock
from marketplace.configuration import session_lifetime
from marketplace.languages import language_active
from marketplace.models import Message, Worker, WorkerSession
from marketplace.models.identifiers import digest, new_secret
from marketplace.web.pages import View, draw, keep_token, page

COOKIE = "marketplace_session"
SESSIONS = JoinedQuery(
    Table("session", WorkerSession, "*"),
    Table("worker", Worker, "*", "worker.id = session.worker_id"),
)


def session_of(request: HttpRequest) -> WorkerSession | None:
    """Return the live session of this browser, its worker loaded, or None."""
    token = request.COOKIES.get(COOKIE)
    if not token:
        return None
    row = SESSIONS.first(
        "session.token_digest = %(token)s AND session.expires_at > %(now)s"
        " AND worker.is_active = TRUE",
        token=digest(token),
        now=clock.now(),
    )
    if row is None:
        return None
    session, session.worker = row
    return session


def begin(request: HttpRequest, response: Any, worker: Worker) -> None:
    """Sign `worker` in: a new session in the table, its token in the response's cookie."""
    end(request, response)
    token, now = new_secret(), clock.now()
    WorkerSession.objects.create(
        worker=worker,
        token_digest=digest(token),
        created_at=now,
        expires_at=now + session_lifetime(),
    )
    keep_token(request, response, COOKIE, token)


def end(request: HttpRequest, response: HttpResponse) -> None:
    """Sign this browser out, if it is signed in."""
    if token := request.COOKIES.get(COOKIE):
        WorkerSession.objects.filter(token_digest=digest(token)).delete()
    response.delete_cookie(COOKIE, samesite="Lax")


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
    """A request of a signed-in worker, as `worker_page` passes it on."""

    worker: Worker
    worker_session: WorkerSession


WorkerView = Callable[Concatenate[SignedInRequest, Arguments], HttpResponse]


def worker_page(view: WorkerView[Arguments]) -> View[Arguments]:
    """Make a view a page for signed-in workers; others have to sign in first."""

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
    """Return a page for the signed-in worker; it shows a waiting notice once."""
    context["worker"] = request.worker
    context["notice"] = take_notice(request)
    (context["n_unread"],) = UNREAD.first(worker=request.worker.pk) or (0,)
    return draw(request, template, status, **context)


def take_notice(request: SignedInRequest) -> str:
    """Return the notice that waits for this worker's next page, and clear it."""
    notice = request.worker_session.notice
    if notice:
        leave_notice(request, "")
    return notice


def leave_notice(request: SignedInRequest, sentence: str) -> None:
    """Store one sentence for the worker's next page, unless the session has ended."""
    session = request.worker_session
    session.notice = sentence[:300]
    WorkerSession.objects.filter(pk=session.pk).update(notice=session.notice)
