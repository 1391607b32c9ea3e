"""This server: signing in, accounts, the doctor, trying long work again, the marketplace's desk."""

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.dashboard.access import name_of, requester_required, sets_up
from annotation.jobs import LONG_WORK
from collector.models import SignInTries, User
from collector.models.accounts import LONGEST_PASSWORD, create_account
from collector.serving import backups
from common.actions import ActionError
from common.checkup import Finding, checks_named, examine
from common.rate_limit import Limit, client_address
from common.visitors import known_browser, remember_browser, safe_next_url
from tasks.crowd.requester_api import MarketplaceError, read_keys

# Wrong passwords for one account from one place; after the last, one waits until all are back.
WAIT_MINUTES = 5
TRIES = Limit(at_once=5, seconds=WAIT_MINUTES * 60 / 5)
# From all places together, but for browsers in which the account was signed in to before: guessers
# have many addresses, and keep its owner out of no browser of theirs.
TRIES_ELSEWHERE = Limit(at_once=20, seconds=WAIT_MINUTES * 60 / 5)
NOT_YOURS = "Accounts are made by the person who set this server up."
# Of each kind; the command prints all of them.
MOST_LINES = 20
SECONDS = 60
DESK = "/desk/"


@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, slowly after several wrong ones; then go where one wanted to."""
    target = safe_next_url(request, "/")
    form = AuthenticationForm(request, data=request.POST or None)
    if request.method == "POST":
        # Of this account, from this address: nobody's guesses keep anybody else out who sits behind
        # the same one, and signing in to one's own between two guesses takes none of them back.
        account = User.normalize_username(request.POST.get("username", "").strip())
        browser = known_browser(request, f"requester:{account}")
        address = client_address(request, settings.CLIENT_ADDRESS_HEADER)
        tries = (
            [(TRIES, (account, "browser", browser))]
            if browser
            else [(TRIES, (account, address)), (TRIES_ELSEWHERE, (account,))]
        )
        now = timezone.now()
        if not all(SignInTries.take(limit, now, *who) for limit, who in tries):
            form = AuthenticationForm(request)
            waiting = {"form": form, "minutes": WAIT_MINUTES, "next": target}
            return render(request, "dashboard/sign_in.html", waiting, status=429)
        if form.is_valid():
            for limit, who in tries:
                SignInTries.give_back(limit, *who)
            login(request, form.get_user())
            response = redirect(target)
            remember_browser(request, response, f"requester:{account}")
            return response
    return render(request, "dashboard/sign_in.html", {"form": form, "next": target})


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session and say so."""
    logout(request)
    return redirect("signed_out")


@never_cache
@require_safe
def signed_out(request: HttpRequest) -> HttpResponse:
    """Say that one has left."""
    return render(request, "dashboard/signed_out.html")


@requester_required
@require_safe
def accounts(request: HttpRequest) -> HttpResponse:
    """List the accounts, with a form for one more where one may make it."""
    return _drawn(request)


@requester_required
@require_POST
def make_account(request: HttpRequest) -> HttpResponse:
    """Make an account; a refused name stays in its field."""
    name = request.POST.get("name", "")
    if not sets_up(request):
        return _drawn(request, 403, wrong=NOT_YOURS)
    try:
        made = create_account(name, request.POST.get("password", ""))
    except ActionError as error:
        return _drawn(request, 422, wrong=error.on_page, typed=name[:150])
    messages.success(
        request,
        f"{made} can sign in now. To decide as {made}, sign out and in, or use a window "
        "of another browser.",
    )
    return redirect("accounts")


def _drawn(request: HttpRequest, status: int = 200, **more: object) -> HttpResponse:
    shown = {
        "accounts": User.objects.filter(is_active=True).order_by("username"),
        "may_make": sets_up(request),
        "longest": LONGEST_PASSWORD,
        **more,
    }
    return render(request, "dashboard/accounts.html", shown, status=status)


@requester_required
@require_http_methods(["GET", "HEAD", "POST"])
def doctor(request: HttpRequest) -> HttpResponse:
    """Offer to look; look when asked to, mend when asked to, and show what is left."""
    may_look = sets_up(request)
    shown: dict[str, object] = {"may_look": may_look}
    if may_look:
        shown |= {"backup": backups.status(), "backup_problems": backups.problems()}
    if request.method == "POST" and may_look:
        checks, mends = checks_named(settings.CHECKUPS), request.POST.get("do") == "mend"
        findings = examine(checks, mend=mends)
        shown |= {
            "looked_at": timezone.now(),
            "n_checks": len(checks),
            "findings": [_row(finding, mends=mends) for finding in findings],
            "can_mend": any(each.left and each.check.mend and not each.why for each in findings),
            "mends": mends,
        }
    status = 403 if request.method == "POST" and not may_look else 200
    return render(request, "dashboard/doctor.html", shown, status=status)


def _row(finding: Finding, *, mends: bool) -> dict[str, object]:
    """Return a finding as the page shows it; mends: it has been tried to mend it."""
    check, left = finding.check, set(finding.left)
    return {
        "name": check.name,
        "means": finding.says,
        "lines": [(line, mends and line not in left) for line in finding.found[:MOST_LINES]],
        "more": max(0, len(finding.found) - MOST_LINES),
        "why": finding.why,
        "mends": "" if mends or finding.why or not check.mend else check.mends,
        "by_hand": bool(left) and (mends or not check.mend) and not finding.why,
    }


@requester_required
@require_safe
def marketplace_desk(request: HttpRequest) -> HttpResponse:
    """Go to the desk's page that `to` names, signed in where that gives nobody more than they have.

    The person who set this server up holds the marketplace's keys, with which everything there can
    be done, and is signed in by a link that is signed with them. Others are asked by the desk,
    which shows what reviewers here must not see: who the workers are.
    """
    to = request.GET.get("to", DESK)
    if not settings.MARKETPLACE_DESK or not to.startswith(DESK):
        raise Http404
    back = request.GET.get("back", "/")
    if not url_has_allowed_host_and_scheme(back, None):
        back = "/"
    back = request.build_absolute_uri(back)
    plain = f"{settings.MARKETPLACE_URL}{DESK}sign-in/?{urlencode({'next': to})}"
    if not sets_up(request):
        return redirect(plain)
    try:
        return redirect(f"{settings.MARKETPLACE_URL}{DESK}enter/{_token(request, to, back)}/")
    except MarketplaceError:
        return redirect(plain)


def _token(request: HttpRequest, to: str, back: str) -> str:
    """Return who wants to go where, signed with the secret that the desk knows."""
    keys = read_keys(settings.MTURK_KEYS_FILE)
    claims = {
        "key": keys.access_key_id,
        "name": name_of(request)[:60],
        "to": to[:500],
        "back": back[:500],
        "expires": int(timezone.now().timestamp()) + SECONDS,
        "once": secrets.token_hex(8),
    }
    text = urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    secret = keys.entry_secret.encode()
    signature = hmac.new(secret, f"desk\n{text}".encode(), hashlib.sha256).hexdigest()
    return f"{text}.{signature}"


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
