"""Passwords, links, one's own data, being forgotten, and the language of the pages."""

import json
import re
from typing import Any

import pytest
from django.test import RequestFactory

from common.visitors import known_browser
from marketplace import clock, funds
from marketplace.models import Assignment, AssignmentState, Message, Worker, WorkerSession
from marketplace.people.accounts import open_worker
from marketplace.people.invitations import make_class_code
from marketplace.tests.boto import HOST
from marketplace.tests.visitor import Visitor

PASSWORD = "a long enough one"


@pytest.fixture
def with_password(ada: Visitor) -> Visitor:
    """Ada, who chose a password."""
    page = ada.post("/account/", "/account/password/", name="Ada", password=PASSWORD)
    assert "You can sign in with this name" in page.content.decode()
    return ada


def come(**fields: str) -> Visitor:
    """Return a visitor who tried to come in at the front door."""
    visitor = Visitor()
    visitor.response = visitor.post("/", "/sign-in/", **fields)  # type: ignore[attr-defined]
    return visitor


def is_in(visitor: Visitor) -> bool:
    """Return whether the visitor is signed in."""
    return "Sign out" in visitor.get("/hits/").content.decode()


@pytest.mark.parametrize("is_open", [True, False])
def test_a_password_signs_in_and_a_wrong_one_does_not(
    with_password: Visitor, settings: Any, is_open: bool
) -> None:
    settings.MARKETPLACE_OPEN_SIGN_IN = is_open
    assert is_in(come(name=" ADA ", password=PASSWORD))
    assert not is_in(come(name="Ada", password="another long one"))
    assert not is_in(come(name="Ada"))
    if not is_open:
        assert not is_in(come(name="Nobody", password=PASSWORD))
        assert Worker.objects.count() == 1


def test_guesses_from_many_addresses_keep_no_known_browser_out(
    with_password: Visitor, settings: Any
) -> None:
    settings.MARKETPLACE_CLIENT_ADDRESS_HEADER = "X-Forwarded-For"
    ada = come(name="Ada", password=PASSWORD)
    assert is_in(ada)
    ada.post("/hits/", "/sign-out/")
    for number in range(60):
        mallory = Visitor()
        mallory.client.defaults["HTTP_X_FORWARDED_FOR"] = f"203.0.113.{number}"
        mallory.post("/", "/sign-in/", name="Ada", password="guess")
    stranger = Visitor()
    stranger.post("/", "/sign-in/", name="Ada", password=PASSWORD)
    assert not is_in(stranger)
    ada.post("/", "/sign-in/", name="Ada", password=PASSWORD)
    assert is_in(ada)


def test_a_name_that_looks_like_another_kind_of_account_proves_nothing_there(ada: Visitor) -> None:
    name = "desk:ida"
    ada.post("/account/", "/account/password/", name=name, password=PASSWORD)
    known = come(name=name, password=PASSWORD).client.cookies
    asked = RequestFactory().get("/")
    asked.COOKIES = {each: morsel.value for each, morsel in known.items()}
    assert known_browser(asked, f"worker:{name}")
    assert not known_browser(asked, name)


def test_guessing_becomes_slow(with_password: Visitor, later: Any) -> None:
    for _ in range(5):
        come(name="Ada", password="wrong guess")
    late = come(name="Ada", password=PASSWORD)
    assert late.response.status_code == 429  # type: ignore[attr-defined]
    assert not is_in(late)
    later(minutes=16)
    assert is_in(come(name="Ada", password=PASSWORD))


SPELLINGS = ["Ada", " ada", "ＡＤＡ", "aDa\t", "\u3000Ａda", "\xa0Ada ", "ADA"]


@pytest.mark.parametrize("known", [False, True])
def test_however_a_name_is_written_its_guesses_are_counted_together(
    with_password: Visitor, known: bool
) -> None:
    visitor = come(name="Ada", password=PASSWORD) if known else Visitor()
    if known:
        visitor.post("/hits/", "/sign-out/")
    statuses = [
        visitor.post("/", "/sign-in/", name=each, password="wrong guess").status_code
        for each in SPELLINGS
    ]
    assert statuses == [*[403] * 5, 429, 429]


def test_however_a_name_is_written_its_guesses_from_many_places_are_counted_together(
    with_password: Visitor, settings: Any
) -> None:
    settings.MARKETPLACE_CLIENT_ADDRESS_HEADER = "X-Forwarded-For"
    statuses = []
    for number in range(60):
        mallory = Visitor()
        mallory.client.defaults["HTTP_X_FORWARDED_FOR"] = f"203.0.113.{number}"
        name = SPELLINGS[number % len(SPELLINGS)]
        page = mallory.post("/", "/sign-in/", name=name, password="wrong guess")
        statuses.append(page.status_code)
    assert statuses == [403] * 50 + [429] * 10


def test_a_name_that_grows_where_names_are_compared_is_refused(ada: Visitor) -> None:
    page = Visitor().post("/", "/sign-in/", name="\ufdfa" * 80)
    assert (page.status_code, "Write a name of 1 to 80" in page.content.decode()) == (400, True)
    page = ada.post("/account/", "/account/password/", name="\ufdfa" * 80, password=PASSWORD)
    assert "Write a name of 1 to 80" in page.content.decode()


def test_guessing_links_becomes_slow() -> None:
    visitor = Visitor()
    statuses = [visitor.get(f"/enter/guess-{n}/").status_code for n in range(52)]
    assert statuses == [404] * 50 + [429] * 2


def test_whoever_has_a_link_or_code_comes_in_though_others_guessed() -> None:
    _, token = open_worker("Ada", "", clock.now())
    code = make_class_code("Spring class", 1, 14, "Ida", clock.now()).code
    for n in range(51):
        Visitor().get(f"/enter/guess-{n}/")
    assert Visitor().get("/join/?code=GUESS").status_code == 429
    assert "Ada" in Visitor().get(f"/enter/{token}/").content.decode()
    assert "Spring class" in Visitor().get(f"/join/?code={code}").content.decode()


def test_a_password_has_rules(ada: Visitor, grace: Visitor) -> None:
    grace.post("/account/", "/account/password/", name="Gloria", password=PASSWORD)
    for name, password, sentence in (
        ("Ada", "short", "10 to 200"),
        ("", PASSWORD, "1 to 80"),
        ("gloria", PASSWORD, "taken"),
        ("Ada Lovelace", "ada lovelace", "not your name"),
    ):
        page = ada.post("/account/", "/account/password/", name=name, password=password)
        assert page.status_code == 400
        assert sentence in page.content.decode()
    assert ada.worker.password == ""


def test_a_new_password_ends_other_sign_ins(ada: Visitor) -> None:
    Visitor("Ada")
    assert WorkerSession.objects.count() == 2
    ada.post("/account/", "/account/password/", name="Ada", password=PASSWORD)
    assert WorkerSession.objects.count() == 1
    assert is_in(ada)


def test_a_new_link_replaces_the_old_one(ada: Visitor) -> None:
    links = []
    for _ in range(2):
        page = ada.post("/account/", "/account/link/").content.decode()
        found = re.search(r'id="link" value="https?://[^/]+(/enter/[^"]+)"', page)
        assert found
        links.append(found[1])
    assert Visitor().get(links[0]).status_code == 404
    assert "Welcome, Ada" in Visitor().get(links[1]).content.decode()


def test_one_s_data_is_all_there_and_only_one_s_own(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    ada.submit(hit, answer="Ada's own")
    grace.submit(hit, answer="Grace's own")
    both = {"WorkerId": ada.worker.worker_id}
    rita.create_worker_block(**both, Reason="A note of Rita's.")
    text = ada.get("/account/data.json").content.decode()
    data = json.loads(text)
    assert data["worker"]["display_name"] == "Ada"
    assert "Ada's own" in data["assignment"][0]["answer"]
    assert "Grace" not in text
    assert "Rita's" not in text
    worker = ada.worker
    for secret in (Assignment.objects.get(worker=worker).secret, "token_digest", "link_digest"):
        assert secret not in text


def test_erasing_forgets_who_it_was_and_keeps_the_books(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    done, held = make_hit(rita), make_hit(rita, Title="Other")
    ada.submit(done)
    ada.accept(held)
    worker = ada.worker
    rita.approve_assignment(AssignmentId=Assignment.objects.earliest("pk").assignment_id)
    refused = ada.post("/account/", "/account/erase/", sure="on")
    assert refused.status_code == 400
    assert worker.display_name == Worker.objects.get().display_name
    page = ada.post("/account/", "/account/erase/", sure="on", waive="on")
    assert "Your account is erased" in page.content.decode()
    row = Worker.objects.get()
    assert (row.worker_id, row.is_active) == (worker.worker_id, False)
    assert "Ada" not in json.dumps([row.display_name, row.sign_in_name, row.country])
    assert not WorkerSession.objects.exists()
    assert not Message.objects.exists()
    assert funds.owed_cents(row) == 450
    states = set(Assignment.objects.values_list("state", flat=True))
    assert states == {AssignmentState.APPROVED, AssignmentState.RETURNED}
    assert Visitor("Ada").worker != row


def test_the_browser_s_language_is_spoken_until_one_is_chosen(ada: Visitor) -> None:
    german = {"Accept-Language": "fr, de-CH;q=0.8, en;q=0.5", "Host": HOST}
    door = Visitor().client.get("/", headers=german)
    assert 'lang="de"' in door.content.decode()
    assert "An Aufgaben arbeiten" in door.content.decode()
    assert "Aufgaben für Sie" in ada.client.get("/hits/", headers=german).content.decode()
    ada.post("/preferences/", "/preferences/", language="en")
    assert "HITs for you" in ada.client.get("/hits/", headers=german).content.decode()
    page = ada.post("/history/", "/language/", language="de", next="/history/")
    assert page.request["PATH_INFO"] == "/history/"
    assert "Verlauf" in page.content.decode()
    assert ada.send("/language/", language="de", next="foo").request["PATH_INFO"] == "/hits/"


def test_a_frame_answers_in_the_worker_s_language(rita: Any, ada: Visitor, make_hit: Any) -> None:
    Worker.objects.update(language="de")
    frame = ada.accept(make_hit(rita))
    assert "Abgegeben. Danke." in frame.submit(answer="x").content.decode()


def test_a_frame_is_told_how_the_worker_likes_pages(rita: Any, ada: Visitor, make_hit: Any) -> None:
    assert "workerTheme" not in ada.accept(make_hit(rita)).url
    Worker.objects.update(theme="dark", has_large_text=True)
    url = ada.accept(make_hit(rita)).url
    assert url.endswith("&workerTheme=dark&workerTextSize=xl")


def test_preferences_that_are_not_sent_stay(ada: Visitor) -> None:
    ada.post("/preferences/", "/preferences/", theme="dark", boxes="has_large_text")
    ada.post("/preferences/", "/preferences/", theme="purple", country="de")
    worker = ada.worker
    assert (worker.theme, worker.country, worker.has_large_text) == ("dark", "DE", False)
    assert 'data-theme="dark"' in ada.get("/hits/").content.decode()


def test_a_worker_with_a_link_can_choose_a_password(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_SIGN_IN = False
    _, token = open_worker("Grace", "GB", clock.now())
    visitor = Visitor()
    door = visitor.get(f"/enter/{token}/").content.decode()
    visitor.send_from(door, f"/enter/{token}/")
    visitor.post("/account/", "/account/password/", name="Grace H.", password=PASSWORD)
    assert is_in(come(name="grace h.", password=PASSWORD))
