"""Turns decimal amounts, the wire's and those that people type, into integer cents and back."""

import re
from decimal import Decimal

from django.utils.translation import get_language

from marketplace.configuration import currency_symbol

# German parts thousands by a point and cents by a comma.
GERMAN = str.maketrans(",.", ".,")


def cents_of(amount: str) -> int:
    """Return integer cents of an amount in the model's form (`4`, `4.`, `4.5`, `4.50`)."""
    return int(Decimal(amount.rstrip(".") or "0") * 100)


def amount_of(cents: int) -> str:
    """Return the model's form of integer cents, two decimals always."""
    return f"{cents // 100}.{cents % 100:02d}"


def price_of(cents: int) -> str:
    """Return an amount for people, with its currency: `$1,250.50`, in German `1.250,50 $`."""
    sign = "−" if cents < 0 else ""
    amount = f"{abs(cents) // 100:,}.{abs(cents) % 100:02d}"
    if get_language() == "de":
        return f"{sign}{amount.translate(GERMAN)}\u00a0{currency_symbol()}"
    return f"{sign}{currency_symbol()}{amount}"


def typed_cents(text: str) -> int:
    """Return integer cents of what a person or a spreadsheet wrote: 4.5, 4,50 €, 1.234,50.

    Of point and comma the last one parts the cents, unless three digits follow it. Raises
    ValueError for anything else.
    """
    plain = re.sub(r"[\s'’$€£]", "", text)
    whole, cents = plain, ""
    if parted := re.fullmatch(r"(.*)[.,](\d{0,2})", plain):
        whole, cents = parted[1], parted[2]
    if not re.fullmatch(r"\d{1,12}|\d{1,3}(\.\d{3}){1,3}|\d{1,3}(,\d{3}){1,3}", whole):
        raise ValueError(f"{text!r} is no amount")
    return int(re.sub("[.,]", "", whole)) * 100 + int(cents.ljust(2, "0"))
