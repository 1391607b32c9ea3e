"""Reads a moment as batch results, dumps of JSON and spreadsheets write it."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

# What batch results were written in: the time of the Pacific coast, by its letters.
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7}
WRITTEN = "%a %b %d %H:%M:%S %Y"


def moment(value: Any) -> datetime | None:
    """Return the moment, in UTC where no zone is told; None for nothing; raises ValueError."""
    if value in (None, ""):
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    text = str(value).strip()
    *before, zone, year = text.split() if len(text.split()) == 6 else ("", "")
    if zone in ZONES:
        found = datetime.strptime(" ".join([*before, year]), WRITTEN)
        return found.replace(tzinfo=timezone(timedelta(hours=ZONES[zone])))
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
