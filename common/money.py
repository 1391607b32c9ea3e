"""Amounts of money as text: for the wire, for people, and as people type them."""

from decimal import Decimal, InvalidOperation

SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
# Every column of cents holds more.
MOST_CENTS = 10**14


def amount_of(cents: int, minor_units: int) -> str:
    """Return an amount as the wire wants it: 400 cents with two minor units is "4.00"."""
    whole, part = divmod(cents, 10**minor_units)
    return f"{whole}.{part:0{minor_units}d}" if minor_units else str(whole)


def price_of(cents: int, minor_units: int, currency: str) -> str:
    """Return an amount for people to read, such as $1,250.00; currency: as ISO 4217 has it."""
    whole, point, part = amount_of(cents, minor_units).partition(".")
    amount = f"{int(whole):,}{point}{part}"
    symbol = SYMBOLS.get(currency)
    return f"{symbol}{amount}" if symbol else f"{amount} {currency}"


def cents_of(text: str, minor_units: int) -> int | None:
    """Return an amount typed by a person in whole cents, None for anything else."""
    try:
        cents = Decimal(text.strip().lstrip("$€£").replace(",", "")).scaleb(minor_units)
    except InvalidOperation:
        return None
    if not cents.is_finite() or cents < 0 or cents != cents.to_integral_value():
        return None
    return int(cents) if cents < MOST_CENTS else None
