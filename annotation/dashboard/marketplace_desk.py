"""The step from the collections' pages to the marketplace's own administration, its desk."""

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from annotation.dashboard.access import name_of, requester_required, sets_up
from tasks.crowd.requester_api import MarketplaceError, read_keys

SECONDS = 60
DESK = "/desk/"


@requester_required
@require_safe
def marketplace_desk(request: HttpRequest) -> HttpResponse:
    """Go to the desk's page that `to` names, signed in where that gives nobody more than they have.

    Whoever set this server up holds the marketplace's keys, with which everything there can be
    done: they are let in by a link that is signed with them. Others are asked by the desk, which
    shows what reviewers here must not see: who the workers are.
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
