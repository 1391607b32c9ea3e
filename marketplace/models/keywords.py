"""What a requester states of a HIT beyond the wire's members: `name:value` among its keywords."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from urllib.parse import unquote

# As the wire writes them.
AMOUNT = re.compile(r"[0-9]{1,7}(\.[0-9]{1,2})?")


@dataclass(frozen=True)
class StatedTerms:
    """Pay beside the reward in cents, times in minutes; 0, "" and () where nothing is stated.

    `asked_by` names who asks for the work where one account posts for several. `earns` are the ids
    of the qualification types that the work can earn; `is_once` tells that nobody can do two HITs
    of the type, `rejected_within_minutes` until when work can be rejected at all, None where that
    is not stated, `is_one_at_a_time` that nobody can be at two, `keeps_work` that what was written
    outlives a return.
    """

    expected_minutes: int = 0
    extension_minutes: int = 0
    rejected_within_minutes: int | None = None
    bonus_cents: int = 0
    waiting_cents: int = 0
    waiting_minutes: int = 0
    part_of: str = ""
    asked_by: str = ""
    earns: tuple[str, ...] = ()
    is_once: bool = False
    is_one_at_a_time: bool = False
    keeps_work: bool = False

    @property
    def pays_beside(self) -> bool:
        """Return whether more than the reward can be earned."""
        return bool(self.bonus_cents or self.waiting_cents)


@lru_cache(maxsize=1024)
def stated_terms(keywords: str) -> StatedTerms:
    """Return what is stated among the keywords of a HIT type; what makes no sense is left out."""
    found = _stated(keywords)
    return StatedTerms(
        expected_minutes=_minutes(found, "expected-minutes"),
        extension_minutes=_minutes(found, "extension-minutes"),
        rejected_within_minutes=(
            _minutes(found, "rejected-within-minutes")
            if "rejected-within-minutes" in found
            else None
        ),
        bonus_cents=_cents(found, "bonus-up-to"),
        waiting_cents=_cents(found, "waiting-per-minute"),
        waiting_minutes=_minutes(found, "waiting-minutes"),
        part_of=_words(found, "part-of"),
        asked_by=_words(found, "asked-by"),
        earns=tuple(filter(None, found.get("earns", []))),
        is_once="once" in found,
        is_one_at_a_time="one-at-a-time" in found,
        keeps_work="keeps-work" in found,
    )


def stated_values(keywords: str, name: str) -> tuple[str, ...]:
    """Return every value that is stated under `name` among keywords."""
    return tuple(filter(None, _stated(keywords).get(name, [])))


def _stated(keywords: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in keywords.split(","):
        name, _, value = word.partition(":")
        found.setdefault(name.strip().lower(), []).append(value.strip())
    return found


def _words(found: dict[str, list[str]], name: str) -> str:
    """Return words that may hold what ends a keyword: a comma is written %2C, as in an address."""
    return unquote(found.get(name, [""])[0])


def _minutes(found: dict[str, list[str]], name: str) -> int:
    given = found.get(name, [""])[0]
    return int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0


def _cents(found: dict[str, list[str]], name: str) -> int:
    given = found.get(name, [""])[0]
    return int(100 * Decimal(given)) if AMOUNT.fullmatch(given) else 0
