"""What the forms of several pages carry: numbers, amounts, and why the marketplace refused one."""

from decimal import Decimal, InvalidOperation

from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle.publication import provider_name

LONGEST_AMOUNT = 40


def number_of(text: str, digits: int = 18, otherwise: int = 0) -> int:
    """Return a whole number that a form carries, `otherwise` for anything else.

    digits: how many it has at most; with eighteen it fits every column of whole numbers.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else otherwise


def cents_of(text: str, minor_units: int) -> int | None:
    """Return an amount typed by a person in whole cents, None for anything else."""
    try:
        amount = Decimal(text.strip().lstrip("$€£").replace(",", ""))
        cents = amount.scaleb(minor_units)
    except InvalidOperation:
        return None
    if not cents.is_finite() or cents < 0 or cents != cents.to_integral_value():
        return None
    return int(cents) if cents < 10**14 else None


def marketplace_problem(error: MarketplaceError, then: str) -> str:
    """Return what a requester reads when the marketplace refused or did not answer."""
    if error.is_refusal:
        return f"The marketplace refused: {error} Nothing was changed."
    place = provider_name().capitalize()
    return f"{place} does not answer. Start it, then {then}: nothing was changed."
