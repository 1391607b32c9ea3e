"""The host decides which site answers; a host nobody serves is refused."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])


def test_a_foreign_host_is_refused_and_told_where_to_go(settings):
    answer = Client(HTTP_HOST="evil.example").get("/")
    assert answer.status_code == 400
    html = answer.content.decode()
    assert f'href="{settings.COLLECTOR_URL}/">Open Collector' in html
    assert f'href="{settings.MARKETPLACE_URL}/">Open the workers' in html
    assert f'href="{settings.COLLECTOR_URL}/static/' in html


def test_collector_and_marketplace_are_two_sites():
    assert b"Collector" in Client(HTTP_HOST="localhost").get("/", REMOTE_ADDR="127.0.0.1").content
    assert b"Marketplace" in Client(HTTP_HOST="127.0.0.1").get("/").content


def test_a_host_is_written_in_any_case():
    assert b"Collector" in Client(HTTP_HOST="LOCALHOST").get("/", REMOTE_ADDR="127.0.0.1").content


def test_the_desk_is_not_open_to_what_a_front_server_passes_on():
    answer = Client(HTTP_HOST="localhost").get("/collections/", HTTP_X_FORWARDED_FOR="10.0.0.9")
    assert answer.status_code == 302


def test_what_goes_wrong_at_the_embedded_marketplace_has_its_own_pages():
    site = {"HTTP_HOST": "127.0.0.1", "HTTP_ACCEPT_LANGUAGE": "de"}
    client = Client(enforce_csrf_checks=True, raise_request_exception=False, **site)
    answers = {
        403: client.post("/sign-in/", {"name": "Ada"}),
        404: client.get("/nowhere/"),
        405: client.get("/sign-out/"),
    }
    for status, answer in answers.items():
        html = answer.content.decode()
        assert answer.status_code == status
        assert 'lang="de"' in html
        assert "marketplace/marketplace.css" in html
        assert "dashboard/" not in html
    assert "Cookie" in answers[403].content.decode()
    at_desk = client.post("/desk/sign-in/", {"name": "Ada"})
    assert at_desk.status_code == 403
    assert "marketplace/desk.css" in at_desk.content.decode()
