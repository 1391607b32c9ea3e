"""What Collector makes of a marketplace whose replies are lost."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from common.outages import missing
from tasks.crowd import marketplace, requester_api
from tasks.crowd.requester_api import LONGEST_PAUSE_SECONDS, Keys, MarketplaceError

THERE = {"HITId": "H1", "HITTypeId": "OLD", "RequesterAnnotation": "token http://localhost/"}
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
    hit = marketplace.create_hit("NEW", token="token", lifetime=timedelta(days=1), page="/")
    assert hit == marketplace.Hit("H1", "OLD")
    with pytest.raises(MarketplaceError, match="lists none"):
        marketplace.create_hit("NEW", token="unheard of", lifetime=timedelta(days=1), page="/")


def test_hits_are_found_by_their_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.crowd.requester_api.call", refuse)
    found = marketplace.find_hits(["token", "unheard of"])
    assert found == {"token": marketplace.Hit("H1", "OLD")}


class Away:
    """A client of a marketplace that does not answer until it is told to."""

    n_asked, is_away = 0, True

    def get_account_balance(self) -> dict[str, Any]:
        self.n_asked += 1
        if self.is_away:
            raise EndpointConnectionError(endpoint_url="http://market.example")
        return {"AvailableBalance": "1.00"}


def test_one_that_has_moved_is_asked_there_and_work_stays_stored_under_its_name(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    asked = []
    monkeypatch.setattr(requester_api, "_client", lambda endpoint, *_: asked.append(endpoint))
    monkeypatch.setattr(requester_api, "read_keys", lambda path: Keys("", "", ""))
    settings.EMBEDDED = False
    settings.MTURK_ENDPOINT_URL = "http://market.example"
    settings.MTURK_CONNECT_URL = "http://moved.example"
    with pytest.raises(AttributeError):
        requester_api.call("get_account_balance")
    assert asked == ["http://moved.example"]
    assert marketplace.environment() == "http://market.example"


def test_a_marketplace_that_is_away_is_asked_ever_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away, now = Away(), [1000.0]
    monkeypatch.setattr(requester_api, "_client", lambda *_: away)
    monkeypatch.setattr(requester_api, "read_keys", lambda path: Keys("", "", ""))
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    for _ in range(3_000):
        now[0] += 0.1
        with pytest.raises(MarketplaceError, match="does not answer") as error:
            requester_api.call("get_account_balance")
        # The log says of all of them that the same service is away.
        assert (missing(error.value) or ("", ""))[0] == "marketplace"
    # Each pause is half of the longest at least.
    assert 300 / LONGEST_PAUSE_SECONDS < away.n_asked < 2.2 * 300 / LONGEST_PAUSE_SECONDS
    away.is_away, now[0] = False, now[0] + LONGEST_PAUSE_SECONDS
    assert requester_api.call("get_account_balance") == {"AvailableBalance": "1.00"}
    away.is_away = True
    asked = away.n_asked
    with pytest.raises(MarketplaceError):
        requester_api.call("get_account_balance")
    # What has answered is asked at once.
    assert away.n_asked == asked + 1


class Suspicious:
    """A client whose keys, or whose clock, the marketplace does not take."""

    def approve_assignment(self, **_: Any) -> dict[str, Any]:
        refusal = {"Code": "InvalidSignatureException", "Message": "Signature expired"}
        status = {"HTTPStatusCode": 403}
        raise ClientError({"Error": refusal, "ResponseMetadata": status}, "ApproveAssignment")


def test_what_is_refused_of_keys_and_clocks_is_refused_of_no_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(requester_api, "_client", lambda *_: Suspicious())
    monkeypatch.setattr(requester_api, "read_keys", lambda path: Keys("", "", ""))
    # The second is refused without being asked.
    for _ in range(2):
        with pytest.raises(MarketplaceError, match="Signature expired") as error:
            marketplace.approve("A1")
        assert not error.value.permanent
        assert error.value.is_refusal
        assert (missing(error.value) or ("", ""))[0] == "marketplace"
