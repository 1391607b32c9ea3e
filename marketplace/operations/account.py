"""GetAccountBalance."""

from typing import Any

from marketplace.hits.lifecycle import settle_account
from marketplace.money.amounts import amount_of
from marketplace.wire.registry import Call, operation


@operation("GetAccountBalance")
def get_account_balance(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what is free to spend and what open HITs hold."""
    settle_account(call.requester, call.now)
    call.requester.refresh_from_db()
    return {
        "AvailableBalance": amount_of(call.requester.balance_cents),
        "OnHoldBalance": amount_of(call.requester.held_cents),
    }
