"""Parameters on the requester's pages: their labels, and values as people read and type them."""

from typing import Any

from annotation.dashboard.collections.publishing import cents_of
from collector.protocols.parameters import Parameters
from tasks.pages.wording import price
from tasks.posting.hits import money

LABELS = {
    "reward_cents": "Pay of a HIT",
    "expected_minutes": "Minutes it takes",
    "places_at_once": "HITs open at a time",
    "lifetime_days": "Days a HIT stays up",
    "approve_after_hours": "Hours before work is paid",
    "floor_cents_per_hour": "Floor of the hourly rate",
    "repeats_percent": "Per cent held for work done again",
}
LONG = frozenset({"description"})
YES, NO = "yes", "no"


def label_of(key: str) -> str:
    """Return the name of a parameter with its table: "Question: pay of a HIT"."""
    *path, last = key.split(".")
    label = own_label(last)
    where = " ".join(path).replace("_", " ").capitalize()
    if label[1:2].islower():
        label = label[:1].lower() + label[1:]
    return f"{where}: {label}" if where else label


def own_label(name: str) -> str:
    """Return the name of a parameter inside its table."""
    words = name.removesuffix("_cents").replace("_", " ").capitalize()
    return LABELS.get(name, words.replace(" hit", " HIT"))


def help_of(parameters: Parameters, key: str) -> str:
    """Return the sentence that says what a parameter is, from where its table is defined."""
    table: Any = parameters
    *path, last = key.split(".")
    for name in path:
        table = getattr(table, name)
    return type(table).model_fields[last].description or ""


def is_money(key: str) -> bool:
    """Return whether the parameter is an amount in whole cents."""
    return "cents" in key.rpartition(".")[2].split("_")


def shown(key: str, value: Any, parameters: Parameters) -> str:
    """Return a value for people to read."""
    if is_money(key) and isinstance(value, int):
        return price(value, parameters)
    return typed(key, value, parameters)


def typed(key: str, value: Any, parameters: Parameters) -> str:
    """Return a value as a person types it into a form."""
    if isinstance(value, bool):
        return YES if value else NO
    if is_money(key) and isinstance(value, int):
        return money(value, parameters.pay.minor_units)
    return f"{value:g}" if isinstance(value, float) else str(value)


def read(key: str, text: str, old: Any, parameters: Parameters) -> Any:
    """Return what a person typed as a value of the kind of `old`; raises ValueError, a sentence."""
    text = " ".join(text.replace("\x00", "").split())
    if isinstance(old, bool):
        if text not in (YES, NO):
            raise ValueError(f"Write {YES} or {NO}.")
        return text == YES
    if is_money(key):
        cents = cents_of(text, parameters.pay.minor_units)
        if cents is None:
            raise ValueError("Write an amount, such as 4 or 4.50.")
        return cents
    if isinstance(old, int):
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise ValueError("Write a whole number, such as 20.")
        return int(text)
    if isinstance(old, float):
        try:
            return float(text)
        except ValueError:
            raise ValueError("Write a number, such as 1.5.") from None
    return text
