"""Writes amounts and durations as a person would."""

from datetime import UTC, datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from marketplace.amounts import amount_of
from marketplace.configuration import currency_symbol

register = template.Library()

UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
SHORT = {"day": "d", "hour": "h", "minute": "min", "second": "s"}


@register.filter
def money(cents: int) -> str:
    """Return an amount with its currency sign: 450 cents are `$4.50`."""
    sign = "−" if cents < 0 else ""
    return f"{sign}{currency_symbol()}{amount_of(abs(cents))}"


@register.filter
def duration(seconds: int) -> str:
    """Return a duration in its two largest units: `3 hours`, and 5400 seconds are `1 h 30 min`."""
    found = []
    rest = int(seconds)
    for size, name in UNITS:
        count, rest = divmod(rest, size)
        if count:
            found.append((count, name))
    if len(found) > 1:
        return " ".join(f"{count} {SHORT[name]}" for count, name in found[:2])
    words = [f"{count} {name}{'' if count == 1 else 's'}" for count, name in found]
    return words[0] if words else "no time"


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """Return a `<time>` in UTC, which the page's script rewrites in the reader's own zone."""
    if value is None:
        return ""
    in_utc = value.astimezone(UTC)
    text = f"{in_utc.day} {in_utc:%b %Y, %H:%M} UTC"
    return format_html('<time datetime="{}">{}</time>', in_utc.isoformat(), text)
