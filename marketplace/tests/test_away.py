"""Without its database the marketplace asks for a moment, and gives back what was sent to it."""

import json
from unittest.mock import Mock

import psycopg2
import pytest
from django.test import Client

from common.tests.services_away import take_databases_away
from marketplace.tests.boto import HOST

FORM = "application/x-www-form-urlencoded"
TARGET = {"X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
LOST = psycopg2.OperationalError("server closed the connection unexpectedly")
RECEIPT = "assignmentId=A1&receipt=r&page=%3Cb%3E"


@pytest.fixture
def visitor(monkeypatch: pytest.MonkeyPatch) -> Client:
    """Return a browser that comes while the database is away."""
    take_databases_away(monkeypatch)
    client = Client(HTTP_HOST=HOST, raise_request_exception=False)
    client.cookies.load({"marketplace_session": "x", "marketplace_desk": "x"})
    return client


@pytest.mark.parametrize(("language", "words"), [("en", "Back in a moment"), ("de", "Gleich")])
def test_a_page_that_is_opened_opens_itself_again(
    visitor: Client, language: str, words: str
) -> None:
    page = visitor.get("/hits/", headers={"Accept-Language": language})
    assert (page.status_code, words in page.text) == (503, True)
    assert int(page["Refresh"]) <= 5
    desk = visitor.get("/desk/", headers={"Accept-Language": language})
    assert (desk.status_code, "Back in a moment" in desk.text) == (503, True)


def test_a_receipt_is_kept_in_the_frame_that_sent_it(visitor: Client) -> None:
    page = visitor.post("/accepted/x/mturk/externalSubmit", RECEIPT, content_type=FORM)
    assert (page.status_code, page.has_header("Refresh")) == (503, False)
    assert 'action="/accepted/x/mturk/externalSubmit"' in page.text
    assert '<input type="hidden" name="page" value="&lt;b&gt;">' in page.text
    assert "frame-ancestors 'self'" in page["Content-Security-Policy"]


def test_a_requester_is_told_that_a_retry_helps(
    visitor: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for lost, status in ((LOST, 503), (RuntimeError("a mistake of ours"), 500)):
        monkeypatch.setattr("marketplace.operations.views.authenticate", Mock(side_effect=lost))
        reply = visitor.post("/", "{}", content_type="application/x-amz-json-1.1", headers=TARGET)
        assert (reply.status_code, json.loads(reply.content)["__type"]) == (status, "ServiceFault")
    # What the log is told of each is told with its error, and not again by its path alone.
    assert [each.name for each in caplog.records] == ["marketplace.operations.views"] * 2
