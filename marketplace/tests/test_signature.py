"""Who may speak for a requester: only whoever signs with a living key, now."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from django.test import Client

from marketplace import clock
from marketplace.models import AccessKey
from marketplace.people.accounts import RequesterKeys
from marketplace.tests.boto import ENDPOINT, HOST, mturk_client

TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


def signed_headers(keys: RequesterKeys, body: bytes, **changes: str) -> dict[str, str]:
    service = changes.pop("service", "mturk-requester")
    request = AWSRequest(
        method="POST",
        url=f"{ENDPOINT}/",
        data=body,
        headers={"X-Amz-Target": TARGET, "Content-Type": "application/x-amz-json-1.1"} | changes,
    )
    credentials = Credentials(keys.access_key_id, keys.secret_access_key)
    SigV4Auth(credentials, service, "us-east-1").add_auth(request)
    return dict(request.headers.items())


def send(headers: dict[str, str], body: bytes = b"{}") -> tuple[int, str]:
    content_type = headers.pop("Content-Type", "application/x-amz-json-1.1")
    response = Client().generic(
        "POST", "/", body, content_type=content_type, headers=headers | {"Host": HOST}
    )
    return response.status_code, json.loads(response.content).get("__type", "")


def test_a_signed_request_is_answered(rita_keys: RequesterKeys) -> None:
    assert send(signed_headers(rita_keys, b"{}")) == (200, "")


def test_an_unsigned_request_is_not(rita_keys: RequesterKeys) -> None:
    assert send({"X-Amz-Target": TARGET}) == (400, "MissingAuthenticationTokenException")


@pytest.mark.parametrize("value", ["Bearer x", "AWS4-HMAC-SHA256 Credential=a", "AWS4-HMAC-SHA256"])
def test_half_a_signature_is_told(rita_keys: RequesterKeys, value: str) -> None:
    headers = signed_headers(rita_keys, b"{}") | {"Authorization": value}
    assert send(headers) == (400, "IncompleteSignatureException")


def altered_body(headers: dict[str, str]) -> tuple[int, str]:
    return send(headers, b'{"HITId": "3"}')


def altered_operation(headers: dict[str, str]) -> tuple[int, str]:
    return send(headers | {"X-Amz-Target": TARGET.replace("GetAccountBalance", "ListHITs")})


def altered_signature(headers: dict[str, str]) -> tuple[int, str]:
    whole = headers["Authorization"]
    last = "0" if whole[-1] != "0" else "1"
    return send(headers | {"Authorization": whole[:-1] + last})


def altered_date(headers: dict[str, str]) -> tuple[int, str]:
    moved = clock.real_now() - timedelta(seconds=60)
    return send(headers | {"X-Amz-Date": moved.strftime("%Y%m%dT%H%M%SZ")})


@pytest.mark.parametrize(
    "forge", [altered_body, altered_operation, altered_signature, altered_date]
)
def test_it_refuses_a_forged_request(
    rita_keys: RequesterKeys, forge: Callable[[dict[str, str]], tuple[int, str]]
) -> None:
    headers = signed_headers(rita_keys, b"{}")
    assert forge(headers) == (400, "InvalidSignatureException")


@pytest.mark.parametrize("minutes", [-6, 6])
def test_it_refuses_a_stale_or_future_signature(
    rita_keys: RequesterKeys, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    now = datetime.now(UTC) + timedelta(minutes=minutes)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: now)
    assert send(signed_headers(rita_keys, b"{}")) == (400, "InvalidSignatureException")


def test_another_service_s_signature_does_not_count(rita_keys: RequesterKeys) -> None:
    headers = signed_headers(rita_keys, b"{}", service="s3")
    assert send(headers) == (400, "InvalidSignatureException")


def test_the_operation_has_to_be_signed(rita_keys: RequesterKeys) -> None:
    request = AWSRequest(method="POST", url=f"{ENDPOINT}/", data=b"{}", headers={})
    credentials = Credentials(rita_keys.access_key_id, rita_keys.secret_access_key)
    SigV4Auth(credentials, "mturk-requester", "us-east-1").add_auth(request)
    headers = dict(request.headers.items()) | {"X-Amz-Target": TARGET}
    assert send(headers) == (400, "IncompleteSignatureException")


def test_a_hash_that_is_not_the_body_s_is_refused(rita_keys: RequesterKeys) -> None:
    headers = signed_headers(rita_keys, b"{}", **{"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"})
    assert send(headers) == (400, "InvalidSignatureException")


def test_an_unknown_and_a_revoked_key_are_the_same(rita: Any, rita_keys: RequesterKeys) -> None:
    AccessKey.objects.update(revoked_at=clock.now())
    stranger = RequesterKeys(ENDPOINT, "AKIANOBODY", "secret", "", "")
    for client in (rita, mturk_client(stranger)):
        with pytest.raises(ClientError) as error:
            client.get_account_balance()
        assert error.value.response["Error"]["Code"] == "UnrecognizedClientException"


def test_any_region_will_do(rita_keys: RequesterKeys) -> None:
    client = mturk_client(rita_keys, user_agent_extra="older code")
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
