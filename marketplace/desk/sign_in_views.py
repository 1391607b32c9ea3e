"""Signing in at the desk by name and password, or by a link that a requester's site has signed.

Such a link is good for a minute and for one use, and leads to the requester's desk alone. Anybody
with the secret that signs it has the account's keys too, and can do all of that through the API.
"""

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from common.visitors import safe_next_url
from marketplace import clock
from marketplace.desk.users import password_problem
from marketplace.models import (
    AccessKey,
    AuditEntry,
    DeskSession,
    DeskUser,
    Requester,
    Role,
    SeenRequest,
)
from marketplace.router import atomic
from marketplace.web.desk_pages import (
    DeskRequest,
    begin,
    desk_page,
    end,
    end_all,
    is_open_desk,
    leave_notice,
    owner,
    record,
    session_of,
    show,
)
from marketplace.web.pages import PageError, page
from marketplace.web.sign_in_limits import signed_in, try_name

WRONG = "This name and password do not belong together. Check both and try again."
TOO_MANY = "Too many tries. Wait a quarter of an hour and try again."


@page
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, then go where one wanted to; guessing becomes slow."""
    if request.method != "POST":
        return _door(request, "", 200)
    now, name = clock.now(), request.POST.get("name", "").strip()[:80]
    if try_name(request, f"desk:{name}", now):
        return _door(request, TOO_MANY, 429)
    user = DeskUser.objects.filter(name=name, is_active=True).exclude(password="").first()
    # An unknown name takes as long as a wrong password.
    if not (user or DeskUser()).has_password(request.POST.get("password", "")) or user is None:
        return _door(request, WRONG, 403)
    response = redirect(safe_next_url(request, "desk-home", under="/desk/"))
    signed_in(request, response, f"desk:{name}")
    begin(request, response, user)
    return response


def _door(request: HttpRequest, problem: str, status: int) -> HttpResponse:
    context = {
        "problem": problem,
        "name": request.POST.get("name", "")[:80],
        "next": request.POST.get("next") or request.GET.get("next", ""),
        "is_open": is_open_desk(request),
        "is_new": not DeskUser.objects.exists(),
    }
    return render(request, "desk/sign_in.html", context, status=status)


@page
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this browser's session at the desk."""
    response = redirect("desk-sign-in")
    end(request, response)
    return response


@desk_page
def home(request: DeskRequest) -> HttpResponse:
    """Go to the first page of the user who is signed in."""
    return redirect("desk-requesters" if request.desk.requester is None else "desk-projects")


@desk_page
def password(request: DeskRequest) -> HttpResponse:
    """Choose another password; every other browser is signed out."""
    user = request.desk.user
    if request.method != "POST":
        return show(request, "password.html", here="password")
    problem = ""
    if user.password and not user.has_password(request.POST.get("old", "")):
        problem = "That is not your present password. Try again."
    new = request.POST.get("new", "")
    problem = problem or password_problem(user.name, new)
    if problem:
        return show(request, "password.html", status=400, here="password", problem=problem)
    user.set_password(new)
    user.save(update_fields=["password"])
    end_all(user, but=request.desk.session)
    record(request, f"Changed the password of {user.name}")
    leave_notice(request, "Your new password is kept. Other browsers are signed out.")
    return redirect("desk-home")


# The first line of what is signed: nothing else that the secret signs begins so.
PURPOSE = "desk"
LONGEST_SECONDS, LONGEST = 120, 2000
STALE = "This link has been used or is too old. Go back to where you came from and follow it again."
ANOTHER = (
    "You are signed in at this desk as {name}, who belongs to another requester. "
    "Sign out first, then follow the link again."
)
CLOSED = "The host has closed this account at the desk. Ask them to open it again."


@dataclass(frozen=True)
class DeskLink:
    """Who comes, from which page, and where they want to go."""

    requester: Requester
    name: str
    to: str
    back: str


@page
@require_safe
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in a visitor with a fresh link of a requester's site, and go where it leads."""
    link = _read(request, token)
    session = session_of(request)
    response = redirect(link.to)
    if session is None and is_open_desk(request):
        session = begin(request, response, owner())
    if session is None:
        session = begin(request, response, _user(link))
    elif session.user.role == Role.HOST:
        if session.acting_for_id != link.requester.pk:
            AuditEntry.record(
                session.user.name, f"Began to act for {link.requester.name}", clock.now()
            )
        session.acting_for = link.requester
    elif session.user.requester_id != link.requester.pk:
        raise PageError(ANOTHER.format(name=session.user.name), 403)
    DeskSession.objects.filter(pk=session.pk).update(
        acting_for=session.acting_for, came_from=link.back
    )
    return response


def _read(request: HttpRequest, token: str) -> DeskLink:
    """Return what a link says; raises PageError for one that is forged, old or used before."""
    text, _, signature = token.partition(".")
    if len(token) > LONGEST:
        raise PageError(STALE, 403)
    try:
        claims = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        key, name, to, back = (str(claims[each]) for each in ("key", "name", "to", "back"))
        expires = int(claims["expires"])
    except (ValueError, KeyError, TypeError):
        raise PageError(STALE, 403) from None
    now = clock.now()
    found = AccessKey.objects.select_related("requester")
    known = found.filter(access_key_id=key, revoked_at=None).first()
    message = f"{PURPOSE}\n{text}".encode()
    secret = known.requester.entry_secret if known else ""
    expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
    is_true = hmac.compare_digest(expected.encode(), signature.encode())
    is_fresh = 0 <= expires - now.timestamp() <= LONGEST_SECONDS
    is_here = url_has_allowed_host_and_scheme(to, {request.get_host()}, request.is_secure())
    if known is None or not (is_true and is_fresh and is_here and to.startswith("/desk/")):
        raise PageError(STALE, 403)
    try:
        with atomic():
            SeenRequest.objects.create(attempt=expected, seen_at=now)
    except IntegrityError:
        raise PageError(STALE, 403) from None
    is_site = urlsplit(back).scheme in ("http", "https") and len(back) <= 500
    return DeskLink(known.requester, name, to, back if is_site else "")


def _user(link: DeskLink) -> DeskUser:
    """Return who comes as a user of the desk, made on first use; nobody has a password for it."""
    name = f"{link.name} · {link.requester.name}"[:80]
    user, made = DeskUser.objects.get_or_create(
        name=name,
        defaults={
            "role": Role.REQUESTER,
            "requester": link.requester,
            "created_at": clock.now(),
        },
    )
    if made:
        AuditEntry.record(name, f"Came in by a link of {link.requester.name}", clock.now())
    if user.requester_id != link.requester.pk or not user.is_active:
        raise PageError(CLOSED, 403)
    return user
