"""How a worker wants the list of HITs: its order, and what to leave out; kept between visits."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Protocol, TypeVar

from marketplace.models import Worker
from marketplace.site.hits.facts import Facts

ORDERS = ("newest", "reward", "hourly", "shortest", "requester")
LONGEST = 80
AMOUNT = re.compile(r"\d{1,7}(?:[.,]\d{1,2})?")


@dataclass(frozen=True)
class Choices:
    """What stands in the form above the list, as it was typed."""

    order: str = "newest"
    least: str = ""
    hourly: str = ""
    minutes: str = ""
    requester: str = ""

    @property
    def is_filtering(self) -> bool:
        """Tell whether anything can be left out of the list."""
        return any((self.least, self.hourly, self.minutes, self.requester))


NAMES = tuple(field.name for field in fields(Choices))


def choices_from(given: Mapping[str, str]) -> Choices:
    """Return the choices of a form or of a worker's row; what makes no sense is left out."""
    typed = {name: str(given.get(name, "")).strip()[:LONGEST] for name in NAMES}
    if typed["order"] not in ORDERS:
        typed["order"] = ORDERS[0]
    for name in ("least", "hourly"):
        if not AMOUNT.fullmatch(typed[name]):
            typed[name] = ""
    for name in ("minutes", "requester"):
        if not (typed[name].isascii() and typed[name].isdigit() and len(typed[name]) < 10):
            typed[name] = ""
    return Choices(**typed)


def keep(worker: Worker, choices: Choices) -> None:
    """Remember the choices for the worker's next visit."""
    if worker.list_choices != asdict(choices):
        worker.list_choices = asdict(choices)
        worker.save(update_fields=["list_choices"])


class Listed(Protocol):
    """Something in the list: it has facts."""

    @property
    def facts(self) -> Facts:
        """Return what stands beside it."""


Item = TypeVar("Item", bound=Listed)


def chosen(items: Iterable[Item], choices: Choices) -> list[Item]:
    """Return the items that pass the filters, in the chosen order; `items` come newest first.

    Where the usual time is not known the time allotted counts, and pay per hour comes last.
    """
    passed = [item for item in items if _passes(item.facts, choices)]
    keys = {
        "reward": lambda facts: -facts.kind.reward_cents,
        "hourly": lambda facts: -(facts.hourly_cents if facts.hourly_cents is not None else -1),
        "shortest": lambda facts: facts.seconds,
        "requester": lambda facts: facts.kind.requester.name.casefold(),
    }
    key = keys.get(choices.order)
    return passed if key is None else sorted(passed, key=lambda item: key(item.facts))


def _passes(facts: Facts, choices: Choices) -> bool:
    if choices.requester and facts.kind.requester_id != int(choices.requester):
        return False
    if choices.least and facts.kind.reward_cents < _cents(choices.least):
        return False
    if choices.hourly and (facts.hourly_cents or 0) < _cents(choices.hourly):
        return False
    return not choices.minutes or facts.seconds <= 60 * int(choices.minutes)


def _cents(amount: str) -> int:
    whole, _, part = amount.replace(",", ".").partition(".")
    return 100 * int(whole) + int(part.ljust(2, "0"))
