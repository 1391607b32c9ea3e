"""An unmodified client over a real socket, with nothing changed but the endpoint."""

from typing import Any

import pytest

from marketplace.people.accounts import RequesterKeys
from marketplace.tests.boto import mturk_client
from marketplace.tests.conftest import DATABASES

pytestmark = pytest.mark.django_db(databases=DATABASES, transaction=True)


@pytest.fixture
def address(live_server: Any) -> str:
    """The marketplace's address; inside a larger project the host decides who answers."""
    return f"http://127.0.0.1:{live_server.thread.port}"


def test_it_answers_boto3(address: str, rita_keys: RequesterKeys, make_hit: Any) -> None:
    client = mturk_client(rita_keys, address)
    hit = make_hit(client)
    assert client.get_hit(HITId=hit["HITId"])["HIT"]["CreationTime"].tzinfo is not None
    assert client.get_account_balance()["AvailableBalance"] == "9995.50"
    pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 1})
    assert [len(page["HITs"]) for page in pages] == [1, 0]


def test_it_answers_code_that_names_no_endpoint(
    address: str, rita_keys: RequesterKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    import boto3

    monkeypatch.setenv("AWS_ENDPOINT_URL_MTURK", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", rita_keys.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", rita_keys.secret_access_key)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    client = boto3.session.Session().client("mturk")
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
