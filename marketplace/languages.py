"""Which language a page speaks: the worker's, the browser's last one, or what it asks for."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

# Code and the language's own name, in the order of the footer.
LANGUAGES = (("en", "English"), ("de", "Deutsch"))
CODES = [code for code, _ in LANGUAGES]
ENGLISH = CODES[0]
COOKIE = "marketplace_language"
YEAR_SECONDS = 365 * 24 * 3600


@contextmanager
def language_active(request: HttpRequest, chosen: str = "") -> Iterator[None]:
    """Draw what is inside in `chosen`, else in the language of the browser."""
    with translation.override(supported_code(chosen) or language_of(request)):
        yield


def supported_code(wanted: str) -> str:
    """Return the code among CODES that a language like `de-AT` comes to, or nothing."""
    code = wanted.partition("-")[0].lower()
    return code if code in CODES else ""


def language_of(request: HttpRequest) -> str:
    """Return the code of the language this browser chose or asks for, English by default."""
    kept = request.COOKIES.get(COOKIE, "")
    if kept in CODES:
        return kept
    for wanted, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        if code := supported_code(wanted):
            return code
    return ENGLISH


def remember(response: HttpResponse, code: str, *, secure: bool) -> None:
    """Keep a browser's choice for those who are not signed in."""
    response.set_cookie(
        COOKIE, code, max_age=YEAR_SECONDS, httponly=True, samesite="Lax", secure=secure
    )
