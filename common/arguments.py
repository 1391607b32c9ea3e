"""What commands take as numbers: no more and no less than can be meant, or one line says so."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

# So much no collection and no account ever holds; as cents it fits every column.
MOST = Decimal(10) ** 12
SEED_BITS = 63


def amount(text: str) -> Decimal:
    """Return a sum of money, such as 250 or 12.50; raises ArgumentTypeError."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value < MOST:
        raise ArgumentTypeError(f"{text!r} is no amount: write it like 12.50.")
    return value


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return what reads a whole number from `least` to `most`; it raises ArgumentTypeError."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text[:40]!r}: write a whole number from {least} to {most}.")
        return value

    return number


count = whole(1, 10**9)
processes = whole(1, 1000)
seed = whole(-(2**SEED_BITS), 2**SEED_BITS - 1)
