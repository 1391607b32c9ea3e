"""Tests of who gets to the requester's pages."""

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from annotation.dashboard.tests.making import make_browser
from annotation.dashboard.urls import of_collection, urlpatterns
from collector.models import User
from collector.models.accounts import OWNER
from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db
OPEN_TO_ALL = {"sign_in", "sign_out", "signed_out"}


def test_a_dashboard_without_a_password_asks_for_none(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    assert make_browser().get("/collections/").status_code == 200
    assert not User.objects.get(username=OWNER).has_usable_password()


def test_a_dashboard_without_a_password_is_closed_to_the_rest_of_the_network(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    for address in ("192.168.1.7", "", "unix:"):
        reply = make_browser(REMOTE_ADDR=address).get("/collections/")
        assert reply.status_code == 302
        assert reply["Location"] == "/sign-in/?next=/collections/"


@pytest.mark.parametrize(
    "header",
    [
        *("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded"),
        *("Via", "CF-Connecting-IP", "True-Client-IP", "X-Client-IP", "Fastly-Client-IP"),
        *("X-Amzn-Trace-Id", "X-Envoy-External-Address", "Client-IP", "Proxy-Connection"),
    ],
)
def test_a_dashboard_without_a_password_is_closed_to_what_any_front_server_passes_on(
    settings: Any, header: str
) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    reply = make_browser().get("/collections/", headers={header: "192.0.2.9"})
    assert reply["Location"] == "/sign-in/?next=/collections/"


def test_a_dashboard_without_a_password_opens_to_what_a_browser_sends(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    sent = {
        "Accept-Language": "de",
        "Cache-Control": "max-age=0",
        "DNT": "1",
        "Sec-CH-UA-Platform": "Linux",
        "Sec-Fetch-Site": "same-origin",
        "Upgrade-Insecure-Requests": "1",
        "User-Agent": "Mozilla/5.0",
        "Priority": "u=0, i",
    }
    assert make_browser().get("/collections/", headers=sent).status_code == 200


def test_signing_in_works_while_redis_is_away(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    settings.CACHES = {
        "default": {
            "BACKEND": "collector.serving.fallback_cache.FallbackCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    User.objects.create_user("rita", password="a long enough one")
    form = {"username": "rita", "password": "wrong"}
    assert make_browser().post("/sign-in/", form).status_code == 200
    form["password"] = "a long enough one"
    assert make_browser().post("/sign-in/", form)["Location"] == "/"


def test_every_page_asks_a_stranger_to_sign_in(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    make_collection(slug="pilot")
    browser = make_browser()
    values = {
        "slug": "pilot",
        "stage": "question",
        "number": 1,
        "run": 1,
        "position": 0,
        "file": "x",
        "view": "work",
        "worker": "w",
        "key": "0",
        "name": "x",
        "version": 1,
        "kind": "release",
    }
    patterns = [each for each in urlpatterns if isinstance(each, URLPattern)] + of_collection
    for pattern in patterns:
        if pattern.name in OPEN_TO_ALL:
            continue
        prefix = "/collections/pilot/" if pattern in of_collection else "/"
        names = pattern.pattern.converters
        path = prefix + str(pattern.pattern)
        for name, converter in names.items():
            path = path.replace(f"<{_kind(converter)}:{name}>", str(values[name]))
        for reply in (browser.get(path), browser.post(path)):
            assert reply.status_code == 302, path
            assert reply["Location"].startswith("/sign-in/?next="), path


def _kind(converter: object) -> str:
    return type(converter).__name__.removesuffix("Converter").lower().replace("string", "str")


def test_a_name_and_a_password_let_in_and_lead_on(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    User.objects.create_user("rita", password="a long enough one")
    browser = make_browser()
    assert b"Sign in" in browser.get("/sign-in/?next=/collections/").content
    reply = browser.post(
        "/sign-in/",
        {"username": "rita", "password": "a long enough one", "next": "/collections/"},
    )
    assert reply["Location"] == "/collections/"
    assert browser.get("/collections/").status_code == 200


def test_signing_in_never_leads_to_a_foreign_page(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    User.objects.create_user("rita", password="a long enough one")
    form = {"username": "rita", "password": "a long enough one", "next": "https://evil.example/"}
    assert make_browser().post("/sign-in/", form)["Location"] == "/"


def test_many_wrong_passwords_have_to_wait(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    User.objects.create_user("rita", password="a long enough one")
    browser = make_browser()
    wrong = {"username": "rita", "password": "no"}
    for _ in range(5):
        assert b"do not fit together" in browser.post("/sign-in/", wrong).content
    reply = browser.post("/sign-in/", {"username": "rita", "password": "a long enough one"})
    assert reply.status_code == 429
    assert b"Wait 5 minutes" in reply.content


@pytest.mark.parametrize("known", [False, True])
def test_however_a_name_is_written_its_guesses_are_counted_together(
    settings: Any, known: bool
) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    right = {"username": "rita", "password": "a long enough one"}
    User.objects.create_user("rita", password=right["password"])
    browser = make_browser()
    if known:
        assert browser.post("/sign-in/", right).status_code == 302
        browser.post("/sign-out/")
    spellings = ["rita", " rita", "rita\t", "ｒｉｔａ", "\u3000ｒita", "\xa0rita ", "rit\uff41"]
    replies = [
        browser.post("/sign-in/", {"username": each, "password": "no"}) for each in spellings
    ]
    assert [reply.status_code for reply in replies] == [*[200] * 5, 429, 429]
    assert browser.post("/sign-in/", right).status_code == 429


def test_tries_are_counted_by_account(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    own = {"username": "mallory", "password": "another long one"}
    for name in ("rita", "mallory"):
        User.objects.create_user(name, password=own["password"])
    guess = {"username": "rita", "password": "no"}
    browser = make_browser()
    for _ in range(5):
        assert browser.post("/sign-in/", guess).status_code == 200
        assert browser.post("/sign-in/", own).status_code == 302
    assert browser.post("/sign-in/", guess).status_code == 429
    assert browser.post("/sign-in/", own).status_code == 302


def test_a_word_that_is_no_path_leads_nowhere_else(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    User.objects.create_user("rita", password="a long enough one")
    right = {"username": "rita", "password": "a long enough one"}
    for wanted in ("foo", "//evil.example", "http://[", "javascript:alert(1)", "sign_in"):
        reply = make_browser().post("/sign-in/", {**right, "next": wanted})
        assert (reply.status_code, reply["Location"]) == (302, "/")
        assert make_browser().get("/sign-in/", {"next": wanted}).status_code == 200


def test_behind_a_front_server_only_who_was_wrong_has_to_wait(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN, settings.CLIENT_ADDRESS_HEADER = False, "X-Forwarded-For"
    mallory, rita = (
        make_browser(HTTP_X_FORWARDED_FOR=f"192.0.2.9, {address}")
        for address in ("198.51.100.1", "198.51.100.2")
    )
    wrong = {"username": "rita", "password": "no"}
    for _ in range(5):
        mallory.post("/sign-in/", wrong)
    assert mallory.post("/sign-in/", wrong).status_code == 429
    assert rita.post("/sign-in/", wrong).status_code == 200


def test_guesses_from_many_addresses_are_slowed_and_keep_no_known_browser_out(
    settings: Any,
) -> None:
    settings.PASSWORDLESS_SIGN_IN, settings.CLIENT_ADDRESS_HEADER = False, "X-Forwarded-For"
    User.objects.create_user("rita", password="a long enough one")
    right = {"username": "rita", "password": "a long enough one"}
    rita = make_browser(HTTP_X_FORWARDED_FOR="198.51.100.1")
    assert rita.post("/sign-in/", right).status_code == 302
    rita.post("/sign-out/")
    names = ["rita", " rita\u3000", "ｒｉｔａ"]
    guesses = [
        make_browser(HTTP_X_FORWARDED_FOR=f"203.0.113.{number}").post(
            "/sign-in/", {"username": names[number % 3], "password": f"guess {number}"}
        )
        for number in range(60)
    ]
    assert [one.status_code for one in guesses].count(200) == 20
    assert rita.post("/sign-in/", right).status_code == 302
    # What proves one account's browser proves no other's, and whoever is known guesses slowly, too.
    wrong = {"username": "rita", "password": "no"}
    assert [rita.post("/sign-in/", wrong).status_code for _ in range(6)] == [*[200] * 5, 429]


def test_leaving_ends_the_session(rita: Client, settings: Any) -> None:
    reply = rita.post("/sign-out/", follow=True)
    assert b"You are signed out" in reply.content
    settings.PASSWORDLESS_SIGN_IN = False
    assert rita.get("/collections/").status_code == 302
    assert rita.get("/sign-out/").status_code == 405


def test_a_change_without_its_token_is_refused(rita: Client) -> None:
    make_collection(slug="pilot")
    strict = make_browser(enforce_csrf_checks=True)
    strict.cookies = rita.cookies
    reply = strict.post("/collections/pilot/pause/")
    assert reply.status_code == 403
    assert b"Reload the page you came from" in reply.content


def test_changes_are_posts(rita: Client) -> None:
    make_collection(slug="pilot")
    changes = ("pause/", "budget/", "stages/question/close/", "seeds/choose/")
    # To publish is asked first, on a page that changes nothing: its own tests say so.
    for path in (*changes, "money/find/", "problems/answer/", "workers/1/leave-out/"):
        assert rita.get(f"/collections/pilot/{path}").status_code == 405
