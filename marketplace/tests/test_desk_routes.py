"""Every address of the desk for every role: nobody, a stranger's person, the own, the host."""

import re
from typing import Any

import pytest
from django.db import connections
from django.urls import get_resolver

from marketplace import clock
from marketplace.models import (
    HIT,
    ClassCode,
    Requester,
)
from marketplace.people.accounts import open_requester, open_worker
from marketplace.tests.desk import DeskVisitor, desk_client
from marketplace.tests.desk_rows import keys_of_desk, keys_of_host, keys_of_work
from marketplace.tests.visitor import Visitor

IN, NO, GONE, TO, BAD = 200, 403, 404, 302, 400
# route -> (method, nobody, another requester's person, the requester's own person, the host)
ANYBODY = {
    "desk-sign-in": ("GET", IN, IN, IN, IN),
    "desk-sign-out": ("POST", TO, TO, TO, TO),
    # A link that nobody has signed.
    "desk-enter": ("GET", NO, NO, NO, NO),
    "desk-home": ("GET", TO, TO, TO, TO),
    "desk-password": ("GET", TO, IN, IN, IN),
}
HOSTS = {
    "desk-requesters": ("GET", IN),
    "desk-requester": ("GET", IN),
    "desk-make-key": ("POST", IN),
    "desk-credit": ("POST", BAD),
    "desk-change-account": ("POST", BAD),
    "desk-make-user": ("POST", BAD),
    "desk-act-for": ("POST", TO),
    "desk-act-no-more": ("POST", TO),
    "desk-revoke-key": ("POST", TO),
    "desk-renew-password": ("POST", IN),
    "desk-end-user": ("POST", TO),
    "desk-workers": ("GET", IN),
    "desk-import": ("GET", IN),
    "desk-worker": ("GET", IN),
    "desk-close-worker": ("POST", TO),
    "desk-merge": ("POST", TO),
    "desk-join-group": ("POST", GONE),
    "desk-resend": ("POST", TO),
    "desk-groups": ("GET", IN),
    "desk-group": ("GET", IN),
    "desk-leave-group": ("POST", TO),
    "desk-invitations": ("GET", IN),
    "desk-make-code": ("POST", BAD),
    "desk-revoke-code": ("POST", TO),
    "desk-revoke": ("POST", TO),
    "desk-payouts": ("GET", IN),
    "desk-payout-list": ("GET", IN),
    "desk-payout-file": ("GET", IN),
    "desk-payout-service": ("GET", GONE),
    "desk-payout-totals": ("GET", IN),
    "desk-confirm": ("POST", BAD),
    "desk-drop-line": ("POST", TO),
    "desk-answer-report": ("POST", TO),
    "desk-settings": ("GET", IN),
    "desk-audit": ("GET", IN),
}
# route -> (method, another requester's person, the own)
REQUESTERS = {
    "desk-projects": ("GET", IN, IN),
    "desk-new-project": ("GET", IN, IN),
    "desk-project": ("GET", GONE, IN),
    "desk-add-rows": ("POST", GONE, BAD),
    "desk-batch": ("GET", GONE, IN),
    "desk-row": ("GET", GONE, IN),
    "desk-publish": ("POST", GONE, BAD),
    "desk-stop": ("POST", GONE, TO),
    "desk-results": ("GET", GONE, IN),
    "desk-decisions": ("POST", GONE, BAD),
    "desk-approve-codes": ("POST", GONE, BAD),
    "desk-batch-bonuses": ("GET", GONE, IN),
    "desk-hits": ("GET", IN, IN),
    "desk-hit": ("GET", GONE, IN),
    "desk-hit-by-id": ("GET", GONE, TO),
    "desk-hit-bonuses": ("GET", GONE, IN),
    "desk-events": ("GET", IN, IN),
    "desk-send-again": ("POST", GONE, TO),
    "desk-account": ("GET", IN, IN),
    "desk-people": ("GET", IN, IN),
    "desk-qualification-requests": ("GET", IN, IN),
    "desk-grant-shown": ("POST", TO, TO),
    "desk-settle-request": ("POST", GONE, TO),
    "desk-messages": ("GET", IN, IN),
    "desk-reply": ("POST", GONE, TO),
    "desk-settle-contest": ("POST", GONE, TO),
}
TABLE = {
    **ANYBODY,
    **{name: (method, TO, NO, NO, host) for name, (method, host) in HOSTS.items()},
    **{name: (method, TO, other, own, TO) for name, (method, other, own) in REQUESTERS.items()},
}
# What ends an account or a session comes after what needs it.
LAST = ("desk-close-worker", "desk-end-user", "desk-sign-out")
PAGES = sorted(name for name, row in TABLE.items() if row[0] == "GET")


@pytest.fixture
def addresses(rita: Any, ada: Visitor, make_hit: Any, settings: Any) -> dict[str, str]:
    """The address of every route, each with something there that is Rita's or the host's."""
    settings.MARKETPLACE_OPEN_DESK = False
    requester = Requester.objects.get(name="Rita")
    member, _ = open_worker("Grace", "", clock.now())
    keys = keys_of_work(rita, ada, make_hit) | keys_of_host(member) | keys_of_desk(requester)
    given = {"worker": member.pk, "position": 1, "kind": "link", "token": "forged"}
    given |= {"name": "paypal", "part": 1}
    given["hit_id"] = HIT.objects.order_by("pk")[0].hit_id
    found = {}
    for pattern in get_resolver("marketplace.desk.urls").url_patterns:
        name, address = str(pattern.name), "/desk/" + str(pattern.pattern)
        values = given | {"key": keys.get(name, requester.pk)}
        found[name] = re.sub(r"<\w+:(\w+)>", lambda part, v=values: str(v[part[1]]), address)
    return found


def test_the_table_has_every_route(addresses: dict[str, str]) -> None:
    assert set(addresses) == set(TABLE)


def test_each_role_gets_what_is_theirs(addresses: dict[str, str]) -> None:
    now = clock.now()
    people = [
        DeskVisitor("Olive", open_requester("Olive", "", 0, now)),
        DeskVisitor("Rita", Requester.objects.get(name="Rita")),
        DeskVisitor("Ida"),
    ]
    stranger = desk_client()
    wrong = {}
    # Reading first, or what is posted would change what is read.
    for name in sorted(TABLE, key=lambda name: (TABLE[name][0] != "GET", name in LAST, name)):
        method, *expected = TABLE[name]
        statuses = [_status(stranger, method, addresses[name])]
        statuses += [_status(person.client, method, addresses[name]) for person in people]
        if name == "desk-act-for":
            _status(people[2].client, "POST", addresses["desk-act-no-more"])
        if statuses != expected:
            wrong[name] = statuses
    assert wrong == {}


def _status(client: Any, method: str, address: str) -> int:
    if method == "GET":
        return int(client.get(address).status_code)
    html = client.get("/desk/password/", follow=True).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
    assert token
    return int(client.post(address, {"csrfmiddlewaretoken": token[1]}).status_code)


def test_pages_cannot_be_framed_and_hold_no_inline_script(addresses: dict[str, str]) -> None:
    people = DeskVisitor("Rita", Requester.objects.get(name="Rita")), DeskVisitor("Ida")
    for name in PAGES:
        for person in people:
            response = person.get(addresses[name])
            policy = response["Content-Security-Policy"]
            if name == "desk-row" and response.status_code == 200 and "sandbox" in policy:
                continue
            html = response.content.decode()
            assert "frame-ancestors 'none'" in policy
            assert "script-src 'self'; style-src 'self'" in policy
            assert response["Cache-Control"] == "no-store"
            for inline in ("<style", " style=", "<script>", " onclick"):
                assert inline not in html, (name, inline)


def test_no_form_works_without_its_token(addresses: dict[str, str]) -> None:
    host = DeskVisitor("Ida")
    for name, row in TABLE.items():
        if row[0] == "POST":
            assert host.client.post(addresses[name]).status_code == 403, name


def test_what_is_not_there_is_a_page_with_a_way_on(addresses: dict[str, str]) -> None:
    host, rita = DeskVisitor("Ida"), DeskVisitor("Rita", Requester.objects.get(name="Rita"))
    for name, address in addresses.items():
        missing = re.sub(r"\d+", "999999", address, count=1)
        if missing == address:
            continue
        person = host if name in HOSTS else rita
        if TABLE[name][0] == "GET":
            page = person.get(missing)
        else:
            page = person.send(person.html("/desk/password/"), missing)
        assert page.status_code == 404, name
        assert "To the first page" in page.content.decode(), name


def test_requesters_see_no_name_and_no_mail_unless_the_host_says_so(
    addresses: dict[str, str], ada: Visitor
) -> None:
    from marketplace.configuration import choose
    from marketplace.models import WorkerProfile

    WorkerProfile.objects.create(worker=ada.worker, mail="ada@example.org", notes="secret note")
    rita = DeskVisitor("Rita", Requester.objects.get(name="Rita"))
    for name in REQUESTERS:
        if TABLE[name][0] == "GET":
            html = rita.html(addresses[name])
            for hidden in ("ada@example.org", "secret note", ">Ada<"):
                assert hidden not in html, name
    choose("requesters_see_mail", True, clock.now())
    assert "ada@example.org" in rita.html("/desk/team/")


def test_a_list_costs_the_same_for_one_and_for_many(
    addresses: dict[str, str], django_assert_max_num_queries: Any
) -> None:
    host = DeskVisitor("Ida")
    for n in range(20):
        open_worker(f"Worker {n}", "", clock.now())
        open_requester(f"Requester {n}", "", 0, clock.now())
    assert ClassCode.objects.exists()
    for name in ("workers", "requesters", "invitations", "groups", "payouts", "audit"):
        with django_assert_max_num_queries(14, connection=connections["marketplace"]):
            host.client.get(f"/desk/{name}/")
