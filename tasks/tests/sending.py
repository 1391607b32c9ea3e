"""A marketplace that sends bonuses and lists what it has sent."""

from dataclasses import dataclass, field
from typing import Any

from tasks.crowd.requester_api import MarketplaceError
from tasks.tests.making import NOW


@dataclass
class Counter:
    """Sends bonuses as a marketplace does: once per token of the day."""

    sent: list[dict[str, Any]] = field(default_factory=list)
    forgets: bool = False
    dies_after: bool = False
    refuses: str = ""
    # The HIT of each assignment that it knows.
    hits: dict[str, str] = field(default_factory=dict)

    def call(self, operation: str, **given: Any) -> dict[str, Any]:
        assert operation == "send_bonus"
        if self.refuses:
            raise MarketplaceError(self.refuses, permanent=True, code="RequestError")
        if not self.forgets and any(
            given["UniqueRequestToken"] == each["UniqueRequestToken"] for each in self.sent
        ):
            code = "AWS.MechanicalTurk.DuplicateRequest"
            raise MarketplaceError("It was sent.", permanent=True, code=code)
        self.sent.append(
            {**given, "HITId": self.hits.get(given["AssignmentId"], ""), "GrantTime": NOW}
        )
        if self.dies_after:
            raise MarketplaceError("It does not answer.", permanent=False)
        return {}

    def pages(self, operation: str, key: str, **given: Any) -> list[dict[str, Any]]:
        assert (operation, key) == ("list_bonus_payments", "BonusPayments")
        (of, key), *_ = given.items()
        return [each for each in self.sent if each[of] == key]
