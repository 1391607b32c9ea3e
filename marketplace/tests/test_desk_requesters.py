"""The host opens requesters, their keys, their people and their credit."""

import re
from typing import Any

import pytest

from marketplace import clock
from marketplace.models import AccessKey, AuditEntry, DeskUser, Requester
from marketplace.people.accounts import RequesterKeys
from marketplace.people.grants import make_group
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.desk import DeskVisitor, desk_client
from marketplace.tests.refusals import refused


@pytest.fixture
def host(settings: Any) -> DeskVisitor:
    """Grace, the host."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Grace")


def opened(host: DeskVisitor, name: str = "Rita's lab") -> Requester:
    path = "/desk/requesters/"
    host.post(path, path, name=name, contact="rita@lab.example")
    return Requester.objects.get(name=name)


def test_an_empty_desk_says_what_to_do_next(host: DeskVisitor) -> None:
    assert "No requester yet" in host.html("/desk/requesters/")
    assert "Nothing was changed yet" in host.html("/desk/audit/")


def test_a_requester_is_opened_once(host: DeskVisitor) -> None:
    rita = opened(host)
    assert rita.balance_cents == 1_000_000
    path = "/desk/requesters/"
    again = host.post(path, path, name="rita's LAB")
    assert again.status_code == 400
    assert "is there already" in again.content.decode()
    assert AuditEntry.objects.get().what == "Opened the requester Rita's lab"


def test_a_key_shows_its_secret_once_and_signs(host: DeskVisitor) -> None:
    rita = opened(host)
    path = f"/desk/requesters/{rita.pk}/"
    page = host.post(path, f"{path}keys/").content.decode()
    key = AccessKey.objects.get()
    assert key.secret_access_key in page
    assert key.secret_access_key not in host.html(path)
    client = mturk_client(
        RequesterKeys(ENDPOINT, key.access_key_id, key.secret_access_key, "", rita.name)
    )
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
    host.post(path, f"/desk/keys/{key.pk}/revoke/")
    with refused("UnrecognizedClientException"):
        client.get_account_balance()
    assert "Revoked" in host.html(path)
    log = [entry.what for entry in AuditEntry.objects.order_by("pk")]
    assert log[-1] == f"Revoked the key {key.access_key_id} of Rita's lab"
    assert not any(key.secret_access_key in what for what in log)


def test_a_person_signs_in_with_the_password_that_is_shown_once(host: DeskVisitor) -> None:
    rita = opened(host)
    path = f"/desk/requesters/{rita.pk}/"
    page = host.post(path, f"{path}people/", name="Rita").content.decode()
    password = re.search(r"<dt>Password</dt><dd><code>([^<]+)</code>", page)
    assert password
    assert password[1] not in host.html(path)
    assert DeskUser.objects.get(name="Rita").has_password(password[1])
    again = host.post(path, f"{path}people/", name="Rita")
    assert (again.status_code, "is taken" in again.content.decode()) == (400, True)
    user = DeskUser.objects.get(name="Rita")
    host.post(path, f"/desk/people/{user.pk}/password/")
    user.refresh_from_db()
    assert not user.has_password(password[1])
    host.post(path, f"/desk/people/{user.pk}/close/")
    user.refresh_from_db()
    assert not user.is_active


def test_credit_counts_once_per_form(host: DeskVisitor) -> None:
    rita = opened(host)
    path = f"/desk/requesters/{rita.pk}/"
    html = host.html(path)
    for _ in range(2):
        told = host.send(html, f"{path}credit/", amount="12.50", once=key_in(html))
    assert "counts once" in told.content.decode()
    rita.refresh_from_db()
    assert rita.balance_cents == 1_001_250
    wrong = host.post(path, f"{path}credit/", amount="-1", once=key_in(html))
    assert wrong.status_code == 400


def test_every_page_s_form_is_a_credit_of_its_own(host: DeskVisitor) -> None:
    rita = opened(host)
    path = f"/desk/requesters/{rita.pk}/"
    for _ in range(2):
        html = host.html(path)
        host.send(html, f"{path}credit/", amount="1.00", once=key_in(html))
    rita.refresh_from_db()
    assert rita.balance_cents == 1_000_200


@pytest.mark.parametrize("once", [{}, {"once": ""}, {"once": "made up"}])
def test_a_form_that_names_no_credit_grants_none(host: DeskVisitor, once: dict[str, str]) -> None:
    rita = opened(host)
    path = f"/desk/requesters/{rita.pk}/"
    page = host.send(host.html("/desk/workers/"), f"{path}credit/", amount="5.00", **once)
    assert page.status_code == 400
    assert "Open the page again" in page.content.decode()
    rita.refresh_from_db()
    assert rita.balance_cents == 1_000_000


def key_in(html: str) -> str:
    """Return the one-time key of a page's form of credit."""
    found = re.search(r'name="once" value="([A-Z0-9]{30})"', html)
    assert found, "no key on this page"
    return found[1]


def test_the_host_works_at_a_requester_s_desk_and_the_log_says_so(host: DeskVisitor) -> None:
    rita = opened(host)
    assert "Choose one below" in host.html("/desk/projects/")
    host.post("/desk/requesters/", f"/desk/requesters/{rita.pk}/open/")
    assert "You act for" in host.html("/desk/projects/")
    path = "/desk/projects/new/link/"
    host.post(path, path, **SURVEY)
    last = AuditEntry.objects.latest("pk")
    assert (last.who, last.what) == ("Grace, for Rita's lab", "Wrote the project Feelings")
    host.post("/desk/projects/", "/desk/requesters/leave/")
    assert "Open a requester" in host.html("/desk/")


def test_a_desk_that_is_opened_twice_is_logged_once(host: DeskVisitor) -> None:
    rita = opened(host)
    html = host.html("/desk/requesters/")
    for _ in range(2):
        host.send(html, f"/desk/requesters/{rita.pk}/open/")
    assert AuditEntry.objects.filter(what="Began to act for Rita's lab").count() == 1


def test_what_is_not_there_is_told_in_a_sentence(host: DeskVisitor) -> None:
    opened(host)
    page = host.get("/desk/requesters/999/")
    assert (page.status_code, "There is no such requester" in page.content.decode()) == (404, True)
    html = host.html("/desk/requesters/")
    for path in ("/desk/keys/999/revoke/", "/desk/people/999/close/", "/desk/people/9/password/"):
        assert host.send(html, path).status_code == 404


def test_forms_without_their_token_are_refused(host: DeskVisitor) -> None:
    rita = opened(host)
    for path in ("", "keys/", "people/", "credit/", "open/"):
        assert host.client.post(f"/desk/requesters/{rita.pk}/{path}").status_code in (403, 405)
    assert desk_client().post("/desk/sign-in/").status_code == 403


SURVEY = {
    "name": "Feelings",
    "title": "Answer a survey",
    "description": "Ten minutes about feelings.",
    "reward": "2.00",
    "max_assignments": "3",
    "minutes": "30",
    "lifetime_days": "7",
    "approval_days": "3",
    "survey_url": "https://survey.example/f?id=1",
    "completion_code": "PLUM-42",
}


def test_the_account_that_groups_belong_to_is_no_requester(host: DeskVisitor) -> None:
    made = make_group("Panel", "", clock.now()).qualification_type.requester
    assert made.name not in host.html("/desk/requesters/")
    assert host.get(f"/desk/requesters/{made.pk}/").status_code == 404
