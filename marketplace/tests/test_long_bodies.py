"""Long answers are taken of who holds a HIT, long files of who sits at a desk, and nothing more."""

from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from common.long_bodies import may_send
from marketplace.tests.boto import HOST
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.visitor import Visitor

SUBMIT = "/mturk/externalSubmit"


@pytest.fixture(autouse=True)
def _closed_desk(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = False


def asked(path: str, cookies: dict[str, str] | None = None, referer: str = "") -> HttpRequest:
    request = RequestFactory().post(path, HTTP_HOST=HOST, HTTP_REFERER=referer)
    request.COOKIES = cookies or {}
    return request


def test_a_long_answer_is_taken_of_whoever_holds_the_hit(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    frame = ada.accept(make_hit(rita))
    home = frame.query["turkSubmitTo"]
    assert may_send(asked(urlsplit(home).path + SUBMIT))
    assert may_send(asked(f"{SUBMIT}?assignmentId={frame.query['assignmentId']}"))
    page = f"https://task.example/hit?turkSubmitTo={quote(home)}"
    assert may_send(asked(SUBMIT, referer=page))
    for path in ("/accepted/abc" + SUBMIT, SUBMIT, f"{SUBMIT}?assignmentId=3ABC", "/", "/join/"):
        assert not may_send(asked(path))


def test_a_long_file_is_taken_of_who_is_signed_in_at_a_desk() -> None:
    cookies = {name: each.value for name, each in DeskVisitor("host").client.cookies.items()}
    assert may_send(asked("/desk/workers/import/", cookies))
    assert not may_send(asked("/desk/sign-in/", cookies))
    assert not may_send(asked("/desk/workers/import/"))
