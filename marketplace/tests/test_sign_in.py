"""Coming in: by name where the door is open, by a personal link, and nothing else."""

import re
from typing import Any

from marketplace import clock
from marketplace.models import Worker, WorkerSession
from marketplace.people.accounts import open_worker
from marketplace.tests.visitor import Visitor
from marketplace.web.worker_pages import COOKIE


def test_a_name_begins_a_worker_and_goes_on_with_it(ada: Visitor) -> None:
    again = Visitor("  ada ")
    assert again.worker == ada.worker
    assert Worker.objects.get().display_name == "Ada"
    assert "Ada" in again.get("/").content.decode()


def test_the_cookie_is_for_the_server_alone(ada: Visitor) -> None:
    cookie = ada.client.cookies[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie.value not in WorkerSession.objects.get().token_digest


def test_signing_out_ends_the_session(ada: Visitor) -> None:
    token = ada.client.cookies[COOKIE].value
    ada.post("/hits/", "/sign-out/")
    assert not WorkerSession.objects.exists()
    ada.client.cookies[COOKIE] = token
    assert "Your name" in ada.get("/hits/").content.decode()


def test_sessions_end(ada: Visitor, later: Any) -> None:
    later(days=31)
    assert "Your name" in ada.get("/hits/").content.decode()


def test_one_comes_back_to_the_page_one_wanted(rita: Any, make_hit: Any) -> None:
    hit = make_hit(rita)
    visitor = Visitor()
    path = f"/hits/{hit['HITId']}/"
    html = visitor.get(path).content.decode()
    found = re.search(r'name="next" value="([^"]*)"', html)
    assert found
    assert found[1] == path
    page = visitor.post("/", "/sign-in/", name="Ada", next=path)
    assert page.request["PATH_INFO"] == path
    elsewhere = Visitor().post("/", "/sign-in/", name="Ada", next="https://evil.example/")
    assert elsewhere.request["PATH_INFO"] == "/hits/"


def test_a_closed_door_asks_for_the_link(settings: Any) -> None:
    visitor = Visitor()
    visitor.get("/")
    settings.MARKETPLACE_OPEN_SIGN_IN = False
    assert "personal link" in visitor.get("/").content.decode()
    response = visitor.client.post("/sign-in/", {"name": "Ada"})
    assert response.status_code == 403
    assert not Worker.objects.exists()


def test_a_personal_link_signs_in_when_its_button_is_pressed(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_SIGN_IN = False
    _, token = open_worker("Grace", "GB", clock.now())
    visitor = Visitor()
    page = visitor.get(f"/enter/{token}/")
    assert "Welcome, Grace" in page.content.decode()
    assert not WorkerSession.objects.exists()
    visitor.send_from(page.content.decode(), f"/enter/{token}/")
    assert "Grace" in visitor.get("/hits/").content.decode()
    assert visitor.get("/enter/wrong/").status_code == 404


def test_a_worker_with_a_link_cannot_be_entered_by_name() -> None:
    worker, _ = open_worker("Grace", "GB", clock.now())
    assert Visitor("Grace").worker != worker


def test_a_closed_account_stays_out(ada: Visitor) -> None:
    Worker.objects.update(is_active=False)
    assert "Your name" in ada.get("/hits/").content.decode()
    page = Visitor().post("/", "/sign-in/", name="Ada")
    assert "account is closed" in page.content.decode()


def test_a_name_has_a_length() -> None:
    visitor = Visitor()
    for name in ("", "   ", "x" * 81):
        assert visitor.post("/", "/sign-in/", name=name).status_code == 400
