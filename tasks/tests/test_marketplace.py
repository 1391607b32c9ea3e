"""What Collector makes of a marketplace whose replies are lost."""

from datetime import timedelta
from typing import Any

import pytest

from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError

THERE = {"HITId": "H1", "HITTypeId": "OLD", "RequesterAnnotation": "token"}
OTHER = {"HITId": "H2", "HITTypeId": "NEW", "RequesterAnnotation": "other"}


def refuse(operation: str, **given: Any) -> dict[str, Any]:
    """Answer as a marketplace that has carried out a call before, and lists its HITs."""
    if operation == "list_hits":
        return {"HITs": [OTHER, THERE]}
    raise MarketplaceError("It is there.", permanent=True, code="HITAlreadyExists")


def test_a_hit_that_was_there_already_keeps_its_own_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marketplace, "call", refuse)
    monkeypatch.setattr("tasks.crowd.requester_api.call", refuse)
    # Its title was changed between the call and the answer, so that a new type was asked for.
    hit = marketplace.create_hit("NEW", token="token", lifetime=timedelta(days=1))
    assert hit == marketplace.Hit("H1", "OLD")
    with pytest.raises(MarketplaceError, match="lists none"):
        marketplace.create_hit("NEW", token="unheard of", lifetime=timedelta(days=1))


def test_hits_are_found_by_their_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.crowd.requester_api.call", refuse)
    found = marketplace.find_hits(["token", "unheard of"])
    assert found == {"token": marketplace.Hit("H1", "OLD")}
