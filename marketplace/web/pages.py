"""What all pages share: the error that ends one, what browsers may do, how they are drawn."""

import re
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.decorators import decorator_from_middleware
from django.utils.translation import gettext_noop

from common.storable import without_nul
from marketplace.configuration import session_lifetime
from marketplace.languages import language_active
from marketplace.questions.template import for_scripts, in_language

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

# Many a task opens a window of its own and goes on there. It leads to no page of ours.
ALLOWED = "allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox"
# Without allow-same-origin a page has no cookies, no storage, no way into the pages around it.
SANDBOX = {"html": ALLOWED, "form": ALLOWED, "external": f"{ALLOWED} allow-same-origin"}
# The service's own scripts, by the addresses that templates name, and ours in their place.
SCRIPTS = {
    "mturk-public/externalHIT_v1.js": "marketplace/external_hit.js",
    "assets.crowd.aws/crowd-html-elements.js": "marketplace/crowd.js",
}
NAMES = "|".join(map(re.escape, SCRIPTS))
SOURCE = re.compile(
    rf"""(<script\b[^>]*?\bsrc\s*=\s*["']?)(?:https?:)?//[^"'\s>]*?({NAMES})(["'\s>])""",
    re.IGNORECASE,
)

M = TypeVar("M", bound=Model)
T = TypeVar("T")
Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponse]


class PageError(Http404):
    """The visitor reads this sentence on the error page, in place of what cannot be had.

    sentence, heading: English; what workers read is marked for translation where it is written,
    and the error page translates it. An empty heading is "Not here".
    status: of the HTTP reply. allowed: methods to name in its Allow header.
    leads_back: whether the page links to the page that the form stood on.

    It is an Http404 so that Django hands it to the island's own handler wherever that is served,
    alone or in another project.
    """

    def __init__(
        self,
        sentence: str,
        status: int = 404,
        heading: str = "",
        allowed: str = "",
        leads_back: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.status, self.heading = sentence, status, heading
        self.allowed, self.leads_back = allowed, leads_back


def first_or_error(rows: QuerySet[M, T], sentence: str) -> T:
    """Return the first of these rows; raises PageError with this sentence where there is none."""
    found = rows.first()
    if found is None:
        raise PageError(sentence)
    return found


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


def draw(request: HttpRequest, template: str, status: int = 200, **context: Any) -> HttpResponse:
    """Return a page drawn for anybody; `back` is where a change of language leads."""
    context["back"] = request.get_full_path() if request.method == "GET" else ""
    return render(request, f"marketplace/{template}", context, status=status)


def keep_token(
    request: HttpRequest, response: Any, cookie: str, token: str, path: str = "/"
) -> None:
    """Set a session's token as a cookie, for as long as the session lasts."""
    response.set_cookie(
        cookie,
        token,
        max_age=int(session_lifetime().total_seconds()),
        path=path,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure(),
    )


def framed(html: str) -> HttpResponse:
    """Return a requester's page to be shown in a frame: our scripts and words in it, no origin."""
    scripts = {name.lower(): static(own) for name, own in SCRIPTS.items()}
    html = SOURCE.sub(lambda found: f"{found[1]}{scripts[found[2].lower()]}{found[3]}", html)
    html = in_language(html)
    ending = (
        f'<script src="{static("marketplace/html_question.js")}" id="marketplace-words" '
        f'data-words="{escape(for_scripts())}"></script>'
    )
    response = HttpResponse(f"{html}\n{ending}\n")
    response["Content-Security-Policy"] = f"sandbox {SANDBOX['html']}; frame-ancestors 'self'"
    response["X-Content-Type-Options"] = "nosniff"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    return response
