"""Tests of the second person's account, on one's own machine and on a server."""

from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests.making import make_browser, make_confirmed, send
from collector.models import User
from collector.models.accounts import OWNER
from tasks.models import Rejection
from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db
PASSWORD = "a quiet evening"


def make(browser: Client, name: str = "grace", password: str = PASSWORD) -> Any:
    """Return the reply to the form."""
    return browser.post("/accounts/make/", {"name": name, "password": password}, follow=True)


def test_two_accounts_on_one_machine_reject_what_one_has_proposed(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    browser = make_browser()
    work = make_confirmed(make_collection(slug="pilot", pay__approve_after_hours=48.0))
    page = f"/collections/pilot/money/work/{work.session.pk}/"
    send(browser, page, f"{page}decide/", {"decision": "propose", "words": "Copied."})
    assert 'can confirm it now, signed in with <a href="/accounts/">' in str(
        browser.get(page).content.decode()
    )
    assert "grace can sign in now" in make(browser).content.decode()
    assert 'href="/sign-in/"' in browser.post("/sign-out/", follow=True).content.decode()
    browser.post("/sign-in/", {"username": "grace", "password": PASSWORD})
    assert ">grace</a>" in browser.get("/collections/").content.decode()
    send(browser, page, f"{page}decide/", {"decision": "confirm", "words": "It is."})
    row = Rejection.objects.get()
    assert (row.proposed_by, row.confirmed_by, row.state) == (OWNER, "grace", "agreed")


def test_who_is_signed_out_finds_the_way_in(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    assert 'href="/sign-in/"' in make_browser().get("/signed-out/").content.decode()


@pytest.mark.parametrize(
    ("name", "password", "sentence"),
    [
        ("", PASSWORD, "Write a name of letters"),
        ("two words", PASSWORD, "Write a name of letters"),
        ("x" * 151, PASSWORD, "Write a name of letters"),
        ("Owner", PASSWORD, "There is an account Owner already"),
        ("grace", "short", "too short"),
        ("grace", "password123", "too common"),
        ("gracehopper", "gracehopper1", "too similar"),
        ("grace", "x1" * 101, "at most 200 characters"),
    ],
)
def test_what_is_no_account_is_refused_in_a_sentence(
    rita: Client, name: str, password: str, sentence: str
) -> None:
    reply = make(rita, name, password)
    assert reply.status_code == 422
    assert sentence in reply.content.decode()
    assert User.objects.count() == 1


def test_on_a_server_nobody_makes_their_own_second_person(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    ada = User.objects.create_user("ada", password=PASSWORD)
    browser = make_browser()
    browser.force_login(ada)
    assert "createsuperuser" in browser.get("/accounts/").content.decode()
    assert make(browser).status_code == 403
    assert User.objects.count() == 1
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    assert "grace can sign in now" in make(browser).content.decode()
