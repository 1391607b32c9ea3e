"""Words and amounts on the requester's pages."""

import re
import shlex
from datetime import datetime
from urllib.parse import urlencode

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.html import conditional_escape
from django.utils.safestring import mark_safe

from annotation.dashboard.questions.filters import reason_words
from annotation.dashboard.questions.reading import PLACES
from collector.ingest.documents.catalogue import label_of
from collector.language_names import language_name
from collector.protocols.parameters import Parameters
from common.command_line import MANAGE
from common.money import amount_of
from tasks.pages.wording import price as price_of

register = template.Library()
register.filter("format_label", label_of)
MINUTE, HOUR, DAY = 60, 3600, 86400
HIT = re.compile(r"\bHITs?\b")
EXPLAINED = "hit_is_explained"
EXPLANATION = (
    r'<abbr title="human intelligence task: what one person does for a reward">\g<0></abbr>'
)
SNAKE = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b")


@register.simple_tag
def manage() -> str:
    """Return how a command begins: with the home, where another was given than the usual one."""
    usual = (settings.BASE_DIR / "var").resolve() == settings.HOME
    return MANAGE if usual else f"COLLECTOR_HOME={shlex.quote(str(settings.HOME))} {MANAGE}"


@register.simple_tag(takes_context=True)
def desk(context: template.Context, to: str = "", of: str = "") -> str:
    """Return the address that leads to a page of the marketplace's desk and back to this one.

    to: its path behind /desk/; of: the collection whose HITs to show. "" where there is no desk.
    """
    if not settings.MARKETPLACE_DESK:
        return ""
    path = f"/desk/{to}" + (f"?{urlencode({'of': of})}" if of else "")
    request = context.get("request")
    # A part that is put into a page leads back to the page.
    back = {"back": request.get_full_path().removesuffix("now/")} if request else {}
    return f"{reverse('marketplace_desk')}?{urlencode({'to': path, **back})}"


@register.simple_tag(takes_context=True)
def hit(context: template.Context, words: str) -> str:
    """Return words as text, with *HIT* in them explained where it stands first on a page."""
    escaped = conditional_escape(words)
    request = context.get("request")
    if request is None or getattr(request, EXPLAINED, False):
        return escaped
    marked, n = HIT.subn(EXPLANATION, escaped, count=1)
    if n:
        setattr(request, EXPLAINED, True)
    return mark_safe(marked)


@register.filter
def price(cents: int | None, parameters: Parameters) -> str:
    """Return an amount of cents for people to read, such as $4.00."""
    return price_of(cents or 0, parameters)


@register.filter
def amount(cents: int | None, parameters: Parameters) -> str:
    """Return an amount of cents as one types it, such as 4.00."""
    return amount_of(cents or 0, parameters.pay.minor_units)


@register.filter
def is_title(document: object) -> bool:
    """Return whether a span's document is a linked article, named by its title."""
    return isinstance(document, str) and document not in PLACES


@register.filter
def grouped(number: int | None) -> str:
    """Return a count with its thousands grouped, such as 12,000."""
    return f"{number or 0:,}"


@register.filter
def percent(share: float | None) -> str:
    """Return a share from 0 to 1 in whole per cents, a dash for none."""
    return "–" if share is None else f"{100 * share:.0f} %"


@register.filter
def counted_as(noun: str, number: int) -> str:
    """Return a noun as it stands behind a number: "set of passages" gives "sets of passages"."""
    head, of, rest = noun.partition(" of ")
    return noun if number == 1 else f"{head}s{of}{rest}"


register.filter("language_name", language_name)


@register.filter
def ago(when: datetime | None) -> str:
    """Return how long ago something was, roughly; a date after a week."""
    if when is None:
        return ""
    seconds = int((timezone.now() - when).total_seconds())
    if seconds < MINUTE:
        return "just now"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min ago"
    if seconds < DAY:
        return f"{seconds // HOUR} h ago"
    days = seconds // DAY
    if days < 7:
        return "yesterday" if days == 1 else f"{days} days ago"
    return f"{when:%-d %b %Y}"


@register.filter
def plainly(text: str) -> str:
    """Return a text of a report with machine's words in it written as people write them."""
    return SNAKE.sub(lambda found: found[0].replace("_", " "), text)


@register.filter
def reason(name: str) -> str:
    """Return the reason of a verdict for people to read."""
    return reason_words(name)


@register.filter
def worded(name: str) -> str:
    """Return a machine's word for people to read: no_agreement is "No agreement"."""
    return name.replace("_", " ").capitalize()
