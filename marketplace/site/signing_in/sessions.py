"""Signs workers in and out under the island's own cookie."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from common.prepared_sql import JoinedQuery, Table
from marketplace import clock
from marketplace.configuration import session_lifetime
from marketplace.models import Worker, WorkerSession
from marketplace.models.identifiers import digest, new_secret
from marketplace.web.pages import keep_token

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
    """Sign this browser out, if it was in."""
    if token := request.COOKIES.get(COOKIE):
        WorkerSession.objects.filter(token_digest=digest(token)).delete()
    response.delete_cookie(COOKIE, samesite="Lax")
