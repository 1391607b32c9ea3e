"""What goes wrong on purpose for one requester's account, for dry runs and tests."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from marketplace.models import HIT, Requester


class FaultInjectionError(ValueError):
    """A fault cannot be set so; the message names the value and its range."""


@dataclass(frozen=True)
class Faults:
    """What goes wrong for one account; shares are of 1, times in seconds.

    Lost replies: the call is carried out and its reply is a bare 504. Throttling: the call is not
    carried out. Frozen: the time in which a new HIT can only be expired. Index lag: the time in
    which a new qualification type is not found and a new grant not counted. Duplicate events are
    delivered twice, reordered ones late.
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
NO_FAULTS = Faults()
# One sequence of chances per account and seed, for as long as this process lives.
_chances: dict[tuple[int, int], random.Random] = {}


def faults_of(requester: Requester) -> Faults:
    """Return the faults that are injected for this account."""
    return read_faults(requester.faults) if requester.faults else NO_FAULTS


def read_faults(stored: Mapping[str, Any]) -> Faults:
    """Return the faults these values make; raises FaultInjectionError."""
    known = {one.name for one in fields(Faults)}
    if unknown := set(stored) - known:
        raise FaultInjectionError(
            f"There is no fault {min(unknown)}; known: {', '.join(sorted(known))}."
        )
    faults = Faults(**stored)
    for name, value in asdict(faults).items():
        if name in SHARES and not (isinstance(value, float | int) and 0 <= value <= 1):
            raise FaultInjectionError(f"{name} is {value!r}; give a share from 0 to 1.")
        if name.endswith("_seconds") and not (isinstance(value, float | int) and 0 <= value < 1e7):
            raise FaultInjectionError(f"{name} is {value!r}; give seconds, 0 or more.")
    return faults


def change_faults(requester: Requester, changes: Mapping[str, Any]) -> Faults:
    """Return the account's faults after these changes, kept; raises FaultInjectionError."""
    faults = read_faults({**asdict(faults_of(requester)), **changes})
    requester.faults = {
        name: value for name, value in asdict(faults).items() if value != getattr(NO_FAULTS, name)
    }
    requester.save(update_fields=["faults"])
    return faults


def chance_of(requester: Requester, faults: Faults) -> random.Random:
    """Return the account's sequence of chances, begun by its seed."""
    key = (requester.pk, faults.seed)
    if key not in _chances:
        _chances[key] = random.Random(faults.seed)
    return _chances[key]


def is_frozen(hit: HIT, now: datetime) -> bool:
    """Return whether a HIT is too new to be changed; expects its requester loaded."""
    faults = faults_of(hit.requester)
    return now < hit.created_at + timedelta(seconds=faults.frozen_seconds)
