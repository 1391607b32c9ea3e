"""Writes amounts and durations as a person would."""

from datetime import UTC, datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from marketplace.amounts import amount_of
from marketplace.configuration import currency_symbol

register = template.Library()

UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@register.filter
def money(cents: int) -> str:
    """Return an amount with its currency sign: 450 cents are `$4.50`."""
    sign = "−" if cents < 0 else ""
    return f"{sign}{currency_symbol()}{amount_of(abs(cents))}"


@register.filter
def duration(seconds: int) -> str:
    """Return a duration in its two largest units: 5400 seconds are `1 hour 30 minutes`."""
    words = []
    rest = int(seconds)
    for size, name in UNITS:
        count, rest = divmod(rest, size)
        if count:
            words.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(words[:2]) or "no time"


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """Return a `<time>` in UTC, which the page's script rewrites in the reader's own zone."""
    if value is None:
        return ""
    in_utc = value.astimezone(UTC)
    text = f"{in_utc.day} {in_utc:%b %Y, %H:%M} UTC"
    return format_html('<time datetime="{}">{}</time>', in_utc.isoformat(), text)
