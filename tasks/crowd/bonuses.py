"""Bonuses at a marketplace: sent once per token, listed by assignment."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tasks.crowd.requester_api import MarketplaceError, call, pages


@dataclass(frozen=True)
class ListedBonus:
    """What the marketplace lists of one bonus, whoever paid it."""

    assignment_id: str
    person: str
    amount: Decimal
    reason: str
    sent_at: datetime

    def cents(self, minor_units: int) -> int:
        """Return the amount in the currency's smallest unit."""
        return int(self.amount.scaleb(minor_units))


def send(person: str, assignment_id: str, *, amount: str, reason: str, token: str) -> None:
    """Send a bonus for an assignment that was handed in; for a day, a token sends only one.

    amount: as the wire wants it, "0.45". Raises MarketplaceError.
    """
    try:
        call(
            "send_bonus",
            WorkerId=person,
            AssignmentId=assignment_id,
            BonusAmount=amount,
            Reason=reason,
            UniqueRequestToken=token,
        )
    except MarketplaceError as error:
        if not error.code.lower().endswith("duplicaterequest"):
            raise


def listed(**of: str) -> Iterator[ListedBonus]:
    """Yield every bonus paid on a HIT (`HITId`) or for an assignment (`AssignmentId`)."""
    for row in pages("list_bonus_payments", "BonusPayments", **of):
        yield ListedBonus(
            assignment_id=row["AssignmentId"],
            person=row["WorkerId"],
            amount=Decimal(row["BonusAmount"]),
            reason=row.get("Reason", ""),
            sent_at=row["GrantTime"],
        )
