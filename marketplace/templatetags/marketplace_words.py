"""Template filters that write amounts, times and states in words, in the page's language."""

from collections.abc import Mapping
from datetime import UTC, datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from marketplace.amounts import price_of
from marketplace.languages import LANGUAGES
from marketplace.notifications.messages import account_name, translated
from marketplace.questions.answers import readable

register = template.Library()
register.filter("translated", translated)
register.filter("account_name", account_name)

SIZES = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
STATES = {
    "submitted": gettext_noop("Awaiting approval"),
    "approved": gettext_noop("Approved"),
    "rejected": gettext_noop("Rejected"),
    "returned": gettext_noop("Returned"),
    "abandoned": gettext_noop("Time ran out"),
    "started": gettext_noop("Test in progress"),
    "pending": gettext_noop("Waiting for the requester"),
    "granted": gettext_noop("Granted"),
}


register.filter("money", price_of)


@register.filter
def duration(seconds: int) -> str:
    """Return a duration in its two largest units: `3 hours`, and 5400 seconds are `1 h 30 min`."""
    found = []
    rest = int(seconds)
    for size, short in SIZES:
        count, rest = divmod(rest, size)
        if count:
            found.append((count, short))
    if not found:
        return _("no time")
    if len(found) > 1:
        return " ".join(f"{count} {_short(short)}" for count, short in found[:2])
    return _long(*found[0])


@register.filter
def roughly(seconds: int) -> str:
    """Return an approximate duration, in one unit up to ninety minutes: `12 min`."""
    if seconds < 90:
        return f"{seconds} {_short('s')}"
    if seconds < 5400:
        return f"{round(seconds / 60)} {_short('min')}"
    return duration(round(seconds / 1800) * 1800)


def _short(unit: str) -> str:
    return {"d": _("d"), "h": _("h"), "min": _("min"), "s": _("s")}[unit]


def _long(count: int, unit: str) -> str:
    words = {
        "d": ngettext("%(count)s day", "%(count)s days", count),
        "h": ngettext("%(count)s hour", "%(count)s hours", count),
        "min": ngettext("%(count)s minute", "%(count)s minutes", count),
        "s": ngettext("%(count)s second", "%(count)s seconds", count),
    }
    return words[unit] % {"count": count}


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """Return a `<time>` in UTC; the page's script rewrites it in the reader's time zone."""
    if value is None:
        return ""
    in_utc = value.astimezone(UTC)
    form = _("j M Y, H:i")
    text = f"{date_format(in_utc, form)} UTC"
    return format_html('<time datetime="{}">{}</time>', in_utc.isoformat(), text)


@register.filter
def state_words(state: str) -> str:
    """Return the words for a state of an assignment or of a request."""
    return _(STATES[state])


@register.filter
def all_typed(sent: Mapping[str, list[str]] | None, name: str) -> list[str]:
    """Return everything that was sent in the field `name`."""
    return list((sent or {}).get(name, []))


@register.filter
def typed(sent: Mapping[str, list[str]] | None, name: str) -> str:
    """Return what was typed into the field `name`; empty if nothing was."""
    return "".join(all_typed(sent, name)[:1])


@register.filter
def as_called(worker_id: str, old_ids: Mapping[str, str]) -> str:
    """Return the old id by which the requester knows a worker, if there is one, else the id."""
    return old_ids.get(worker_id, worker_id)


@register.simple_tag
def languages() -> tuple[tuple[str, str], ...]:
    """Return the languages of the site, each under its own name."""
    return LANGUAGES


@register.filter
def answers(xml: str) -> list[tuple[str, str]]:
    """Return what a worker handed in as (field, answer) pairs; none for an empty text."""
    return list(readable(xml).items()) if xml else []
