"""What goes wrong on purpose for one requester's account, for dry runs and tests."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from marketplace.models import HIT, Requester


class WeatherError(ValueError):
    """A weather cannot be; the message names the value and its range."""


@dataclass(frozen=True)
class Weather:
    """Fair unless said otherwise; shares are of 1, times in seconds.

    Lost replies: the call is carried out and its reply is a bare 504. Throttling: the call is not
    carried out. Frozen: a new HIT can only be expired for so long. Index lag: a new qualification
    type is not found, nor a new grant counted, for so long. Duplicate events are delivered twice,
    reordered ones late.
    """

    lost_replies: float = 0.0
    throttling: float = 0.0
    duplicate_events: float = 0.0
    reordered_events: float = 0.0
    frozen_seconds: float = 0.0
    index_lag_seconds: float = 0.0
    reused_assignment_ids: bool = True
    seed: int = 0


SHARES = ("lost_replies", "throttling", "duplicate_events", "reordered_events")
FAIR = Weather()
# One sequence of chances per account and seed, for as long as this process lives.
_chances: dict[tuple[int, int], random.Random] = {}


def weather_of(requester: Requester) -> Weather:
    """Return the account's weather."""
    return read_weather(requester.weather) if requester.weather else FAIR


def read_weather(stored: Mapping[str, Any]) -> Weather:
    """Return the weather these values make; raises WeatherError."""
    known = {one.name for one in fields(Weather)}
    if unknown := set(stored) - known:
        raise WeatherError(
            f"There is no weather {min(unknown)}; known: {', '.join(sorted(known))}."
        )
    weather = Weather(**stored)
    for name, value in asdict(weather).items():
        if name in SHARES and not (isinstance(value, float | int) and 0 <= value <= 1):
            raise WeatherError(f"{name} is {value!r}; give a share from 0 to 1.")
        if name.endswith("_seconds") and not (isinstance(value, float | int) and 0 <= value < 1e7):
            raise WeatherError(f"{name} is {value!r}; give seconds, 0 or more.")
    return weather


def change_weather(requester: Requester, changes: Mapping[str, Any]) -> Weather:
    """Return the account's weather after these changes, kept; raises WeatherError."""
    weather = read_weather({**asdict(weather_of(requester)), **changes})
    requester.weather = {
        name: value for name, value in asdict(weather).items() if value != getattr(FAIR, name)
    }
    requester.save(update_fields=["weather"])
    return weather


def chance_of(requester: Requester, weather: Weather) -> random.Random:
    """Return the account's sequence of chances, begun by its seed."""
    key = (requester.pk, weather.seed)
    if key not in _chances:
        _chances[key] = random.Random(weather.seed)
    return _chances[key]


def is_frozen(hit: HIT, now: datetime) -> bool:
    """Tell whether a HIT is too new to be changed; expects its requester loaded."""
    weather = weather_of(hit.requester)
    return now < hit.created_at + timedelta(seconds=weather.frozen_seconds)
