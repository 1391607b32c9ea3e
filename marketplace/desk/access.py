"""Who may open a page of the desk: the host, a requester's people, or this machine's visitor."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation

from common.visitors import is_from_this_machine
from marketplace import clock
from marketplace.configuration import open_desk
from marketplace.desk.pages import leave_notice
from marketplace.desk.sessions import Desk, DeskRequest, begin, session_of
from marketplace.models import AuditEntry, DeskSession, DeskUser, Role
from marketplace.web.pages import PageError, View, page

Arguments = ParamSpec("Arguments")
OWNER = "host"
HOSTS_ONLY = "Only the host of the marketplace can open this page."
CHOOSE_FIRST = "This page belongs to a requester. Choose one below to act for it."


DeskView = Callable[Concatenate[DeskRequest, Arguments], HttpResponse]


def record(request: DeskRequest, what: str) -> None:
    """Write a change of this visitor's into the audit log."""
    AuditEntry.record(request.desk.who, what, clock.now())


def desk_page(view: DeskView[Arguments]) -> View[Arguments]:
    """Make a view a page for anybody signed in at the desk; others are asked who they are."""

    @wraps(view)
    def signed_in(
        request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        session = session_of(request)
        if session is None and not is_open_desk(request):
            back = {"next": request.get_full_path()} if request.method == "GET" else {}
            return redirect(reverse("desk-sign-in") + ("?" + urlencode(back) if back else ""))
        if session is None:
            # The visitor's cookie is set on the way out; this reply is theirs already.
            response = HttpResponse()
            session = begin(request, response, owner())
            reply = _as(view, session, request, *args, **kwargs)
            reply.cookies.update(response.cookies)
            return reply
        return _as(view, session, request, *args, **kwargs)

    return page(signed_in)


def _as(
    view: DeskView[Arguments],
    session: DeskSession,
    request: HttpRequest,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> HttpResponse:
    request.desk = Desk(session.user, session)  # type: ignore[attr-defined]
    # The desk speaks English; only the worker's site is translated.
    with translation.override("en"):
        return view(request, *args, **kwargs)  # type: ignore[arg-type]


def host_page(view: DeskView[Arguments]) -> View[Arguments]:
    """Make a view a page for the host alone."""

    @wraps(view)
    def guarded(
        request: DeskRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        if not request.desk.is_host:
            raise PageError(HOSTS_ONLY, 403)
        return view(request, *args, **kwargs)

    return desk_page(guarded)


def requester_page(view: DeskView[Arguments]) -> View[Arguments]:
    """Make a view a page of one requester: their people's, or the host's who opened their desk."""

    @wraps(view)
    def guarded(
        request: DeskRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        if request.desk.requester is None:
            leave_notice(request, CHOOSE_FIRST)
            return redirect("desk-requesters")
        request.requester = request.desk.requester
        return view(request, *args, **kwargs)

    return desk_page(guarded)


def knows(request: HttpRequest, **names: object) -> bool:
    """Return whether somebody signed in at the desk sends this, whose body is not read yet."""
    return is_open_desk(request) or session_of(request) is not None


def is_open_desk(request: HttpRequest) -> bool:
    """Return whether the desk opens without a password: allowed, and asked from this machine."""
    return bool(open_desk()) and is_from_this_machine(request)


def owner() -> DeskUser:
    """Return the host of an open desk, made on first use; nobody signs in to it by password."""
    user, _ = DeskUser.objects.get_or_create(
        name=OWNER, defaults={"role": Role.HOST, "created_at": clock.now()}
    )
    return user
