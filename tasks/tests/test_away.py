"""Without its database Collector asks for a moment, and gives back what was sent to it."""

import logging
import sqlite3

import pytest
from django.db import OperationalError
from django.test import Client

from common.outages import OncePerOutage
from common.tests.services_away import take_databases_away
from tasks.models import Lease, Session
from tasks.pages import api_views as page_api
from tasks.people import entry
from tasks.people.lease_context import lease_token, session_token

FORM = "application/x-www-form-urlencoded"
BEARER = {"Authorization": f"Bearer {lease_token(Lease(pk=1, worker_id='W'))}"}


@pytest.fixture
def visitor(monkeypatch: pytest.MonkeyPatch) -> Client:
    """Return a browser that comes while the database is away."""
    take_databases_away(monkeypatch)
    return Client(HTTP_HOST="localhost", raise_request_exception=False)


def test_a_page_that_is_opened_opens_itself_again(visitor: Client) -> None:
    for path in ("/sign-in/?next=/", "/collections/", "/hit/sent/abc/"):
        visitor.cookies.load({"collector_session": "x" * 32})
        page = visitor.get(path)
        assert (page.status_code, "Back in a moment" in page.text) == (503, True), path
        assert int(page["Refresh"]) == int(page["Retry-After"]) <= 5
        assert "no-store" in page["Cache-Control"]


def test_what_a_form_sent_is_kept_in_the_page(visitor: Client) -> None:
    token = session_token(Session(pk=1, worker_id="W"))
    sent = f"token={token}&agreed=a%22b"
    page = visitor.post("/hit/consent", sent, content_type=FORM)
    assert (page.status_code, page.has_header("Refresh")) == (503, False)
    assert 'action="/hit/consent"' in page.text
    assert '<input type="hidden" name="agreed" value="a&quot;b">' in page.text
    assert "frame-ancestors 'none'" not in page["Content-Security-Policy"]


def test_a_password_does_not_go_back_into_a_page(visitor: Client) -> None:
    page = visitor.post("/sign-in/", {"username": "rita", "password": "secret-word"})
    assert (page.status_code, "go back" in page.text) == (503, True)
    assert "secret-word" not in page.text


def test_a_script_of_a_page_is_told_that_the_page_keeps_its_text(visitor: Client) -> None:
    for path in ("/hit/draft", "/hit/submit", "/hit/problem"):
        answer = visitor.post(path, "{}", content_type="application/json", headers=BEARER)
        assert answer.status_code == 503, path
        assert "kept in this page" in answer.json()["message"]


def test_a_database_that_others_write_to_for_long_is_one_of_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*given: object) -> None:
        raise OperationalError("database is locked") from sqlite3.OperationalError(
            "database is locked"
        )

    monkeypatch.setattr(page_api, "bearers_lease", fail)
    answer = Client(HTTP_HOST="localhost", raise_request_exception=False).post("/hit/draft")
    assert (answer.status_code, "What was saved is safe" in answer.text) == (503, True)


def test_a_fault_of_ours_is_no_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(page_api, "bearers_lease", fail)
    answer = Client(HTTP_HOST="localhost", raise_request_exception=False).post("/hit/draft")
    assert (answer.status_code, "Something broke" in answer.text) == (500, True)


def test_a_fault_of_ours_is_said_in_the_marketplace_s_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*given: object, **named: object) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(entry, "read", fail)
    page = Client(HTTP_HOST="localhost", raise_request_exception=False).get("/hit/")
    assert (page.status_code, "Something broke" in page.text) == (500, True)
    assert "frame-ancestors 'none'" not in page["Content-Security-Policy"]
    assert "To the first page" not in page.text


def test_the_log_says_it_once(
    visitor: Client, caplog: pytest.LogCaptureFixture, tmp_path: object
) -> None:
    once = OncePerOutage(str(tmp_path))
    told: list[str] = []
    once.outages["database"].note = told.append  # type: ignore[method-assign]
    with caplog.at_level(logging.ERROR, "django.request"):
        visitor.get("/collections/")
    assert [once.filter(each) for each in caplog.records] == [False]
    assert len(told) == 1
