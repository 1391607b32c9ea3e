"""Lets somebody in from their requester's own site, by a link that the site has signed.

The link holds for a minute and for one use, and leads to the requester's desk alone. Whoever has
the secret that signs it has the account's keys too, and can do all of that through the API.
"""

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.desk.access import is_open_desk, owner
from marketplace.desk.sessions import begin, session_of
from marketplace.models import (
    AccessKey,
    AuditEntry,
    DeskSession,
    DeskUser,
    Requester,
    Role,
    SeenRequest,
)
from marketplace.router import DATABASE
from marketplace.web.pages import PageError, page

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
    """Sign in whoever has a fresh link of a requester's site, and go where it leads."""
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
        with transaction.atomic(using=DATABASE):
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
