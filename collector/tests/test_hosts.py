"""The host decides which site answers; a host nobody serves is refused."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])


def test_a_foreign_host_is_refused_and_told_where_to_go():
    answer = Client(HTTP_HOST="evil.example").get("/")
    assert answer.status_code == 400
    assert b"http://localhost" in answer.content


def test_collector_and_marketplace_are_two_sites():
    assert b"Collector" in Client(HTTP_HOST="localhost").get("/", REMOTE_ADDR="127.0.0.1").content
    assert b"Marketplace" in Client(HTTP_HOST="127.0.0.1").get("/").content


def test_the_desk_is_not_open_to_what_a_front_server_passes_on():
    answer = Client(HTTP_HOST="localhost").get("/collections/", HTTP_X_FORWARDED_FOR="10.0.0.9")
    assert answer.status_code == 302
