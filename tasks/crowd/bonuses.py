"""Bonuses at a marketplace: sent once per token, listed by assignment."""

from tasks.crowd.requester_api import MarketplaceError, call, pages


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


def reasons_sent(assignment_id: str, person: str) -> set[str]:
    """Return the reasons of every bonus that a person was sent for an assignment."""
    listed = pages("list_bonus_payments", "BonusPayments", AssignmentId=assignment_id)
    return {bonus["Reason"] for bonus in listed if bonus["WorkerId"] == person}
