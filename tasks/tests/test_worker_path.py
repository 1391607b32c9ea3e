"""A worker's page passes by what is there for requesters alone, and loses no header by it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpResponse
from django.test import Client

from collector.serving.middleware import WorkerPagesMiddleware
from tasks.tests.making import make_posting, stage_of
from tasks.tests.visiting import at_work, open_page, post

pytestmark = pytest.mark.django_db
SECURITY = {
    "Content-Security-Policy",
    "X-Content-Type-Options",
    "Referrer-Policy",
    "Cross-Origin-Opener-Policy",
}


@pytest.fixture
def without_it(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what leads every page the whole way from now on."""
    return lambda: monkeypatch.setattr(WorkerPagesMiddleware, "pages", {})


def test_a_page_has_the_headers_of_the_whole_way(client, collection, soon, without_it):
    posting, state = at_work(client, collection, soon)
    preview = f"/hit/?hitId={posting.external_id}"

    def answers() -> list[HttpResponse]:
        # A new client has new middleware.
        visitor = Client(headers={"host": "localhost"})
        return [
            open_page(visitor, posting, "AADA", soon),
            visitor.get(preview),
            visitor.get("/hit/?hitId=HUNKNOWN"),
            visitor.post("/hit/"),
            visitor.get("/hit/draft"),
            post(visitor, {**state, "token": "forged"}, "draft", {}),
            post(visitor, state, "draft", {"version": 0}),
            visitor.post("/hit/consent", {"token": "forged"}),
        ]

    short = answers()
    without_it()
    for one, other in zip(short, answers(), strict=True):
        assert _lasting(one) == _lasting(other)
        assert one.status_code == other.status_code
        assert set(one.headers) >= SECURITY | {"Content-Length"}
        assert not one.cookies


def _lasting(answer: HttpResponse) -> dict[str, list[str]]:
    """Return the headers but those that hang on the time, which a page holds exactly."""
    timely = ("Content-Length",)
    return {name: sorted(value.split("; ")) for name, value in answer.items() if name not in timely}


def test_nobody_is_signed_in_on_the_way_to_a_worker_s_page(
    client, collection, soon, without_it, monkeypatch
):
    seen: list[str] = []
    begin = SessionMiddleware.process_request

    def note(self: Any, request: Any) -> None:
        seen.append(request.path)
        begin(self, request)

    monkeypatch.setattr(SessionMiddleware, "process_request", note)
    posting = make_posting(stage_of(collection, "question"))
    address = f"/hit/?hitId={posting.external_id}"
    assert client.get(address).status_code == 200
    assert client.get("/hit/sent/nothing/").status_code == 404
    assert client.get("/hit/sent/nothing").status_code == 301
    assert seen == ["/hit/sent/nothing/", "/hit/sent/nothing"]
    without_it()
    Client(headers={"host": "localhost"}).get(address)
    assert seen[2:] == ["/hit/"]
