"""Who sits at a desk: signed in and out under a cookie that workers' pages never see."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from marketplace import clock
from marketplace.configuration import session_lifetime
from marketplace.models import DeskSession, DeskUser, Requester, Role
from marketplace.models.identifiers import digest, new_secret
from marketplace.web.pages import keep_token

COOKIE = "marketplace_desk"
PATH = "/desk/"


def session_of(request: HttpRequest) -> DeskSession | None:
    """Return the live desk session of this browser, user and requester loaded, or None."""
    token = request.COOKIES.get(COOKIE)
    if not token:
        return None
    return (
        DeskSession.objects.select_related("user__requester", "acting_for")
        .filter(token_digest=digest(token), expires_at__gt=clock.now(), user__is_active=True)
        .first()
    )


def begin(request: HttpRequest, response: HttpResponse, user: DeskUser) -> DeskSession:
    """Sign `user` in: a new session in the table, its token in the response's cookie."""
    if token := request.COOKIES.get(COOKIE):
        DeskSession.objects.filter(token_digest=digest(token)).delete()
    token, now = new_secret(), clock.now()
    session = DeskSession.objects.create(
        user=user, token_digest=digest(token), created_at=now, expires_at=now + session_lifetime()
    )
    keep_token(request, response, COOKIE, token, PATH)
    return session


def end(request: HttpRequest, response: HttpResponse) -> None:
    """Sign this browser out of the desk, if it was in."""
    if token := request.COOKIES.get(COOKIE):
        DeskSession.objects.filter(token_digest=digest(token)).delete()
    response.delete_cookie(COOKIE, path=PATH, samesite="Lax")


def end_all(user: DeskUser, but: DeskSession | None = None) -> None:
    """Sign a user out everywhere, except in the session `but`."""
    DeskSession.objects.filter(user=user).exclude(pk=but.pk if but else 0).delete()


@dataclass(frozen=True)
class Desk:
    """The signed-in desk user, their session, and the requester whose desk is open, if any."""

    user: DeskUser
    session: DeskSession

    @property
    def is_host(self) -> bool:
        """Return whether the host's own pages are theirs."""
        return self.user.role == Role.HOST

    @property
    def requester(self) -> Requester | None:
        """Return the requester whose desk is open."""
        return self.session.acting_for if self.is_host else self.user.requester

    @property
    def who(self) -> str:
        """Return the name that the audit log keeps."""
        if self.is_host and self.session.acting_for:
            return f"{self.user.name}, for {self.session.acting_for.name}"
        return self.user.name


class DeskRequest(HttpRequest):
    """A request as `desk_page` hands it on; `requester` is set on a requester's pages alone."""

    desk: Desk
    requester: Requester
