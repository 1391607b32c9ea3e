"""Turns the wire's decimal strings into integer cents and back."""

from decimal import Decimal


def cents_of(amount: str) -> int:
    """Return integer cents of an amount in the model's form (`4`, `4.`, `4.5`, `4.50`)."""
    return int(Decimal(amount.rstrip(".") or "0") * 100)


def amount_of(cents: int) -> str:
    """Return the model's form of integer cents, two decimals always."""
    return f"{cents // 100}.{cents % 100:02d}"
