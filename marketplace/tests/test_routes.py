"""Every address for every role: who gets what, and what a stranger is told."""

import re
from typing import Any

import pytest
from django.db import connections, transaction
from django.test import Client
from django.urls import URLPattern, get_resolver

from marketplace import clock
from marketplace.models import Assignment, Message
from marketplace.tests.boto import HOST
from marketplace.tests.visitor import Visitor

# route name -> (method, status for nobody, for another worker, for the worker)
TABLE = {
    "home": ("GET", 200, 302, 302),
    "sign-in": ("GET", 405, 405, 405),
    "sign-out": ("GET", 405, 405, 405),
    "enter": ("GET", 404, 404, 404),
    "join": ("GET", 200, 200, 200),
    "available": ("GET", 302, 200, 200),
    "html-preview": ("GET", 302, 404, 404),
    "html-question": ("GET", 404, 404, 404),
    "preview": ("GET", 302, 200, 302),
    "accept": ("POST", 302, 302, 302),
    "preview-any": ("GET", 302, 200, 404),
    "accept-any": ("POST", 302, 302, 302),
    "queue": ("GET", 302, 200, 200),
    "work": ("GET", 302, 404, 200),
    "return": ("GET", 302, 404, 200),
    "extend": ("POST", 302, 404, 302),
    "submitted": ("GET", 302, 404, 302),
    "next": ("POST", 302, 404, 302),
    "contest": ("POST", 302, 404, 302),
    "write": ("GET", 302, 404, 200),
    "history": ("GET", 302, 200, 200),
    "earnings": ("GET", 302, 200, 200),
    "statement": ("GET", 302, 200, 200),
    "payout-way": ("POST", 302, 302, 302),
    "report-payment": ("POST", 302, 400, 400),
    "messages": ("GET", 302, 200, 200),
    "reply": ("GET", 302, 404, 200),
    "preferences": ("GET", 302, 200, 200),
    "language": ("POST", 302, 302, 302),
    "account": ("GET", 302, 200, 200),
    "password": ("POST", 302, 400, 400),
    "personal-link": ("POST", 302, 200, 200),
    "leave-everywhere": ("POST", 302, 302, 302),
    "my-data": ("GET", 302, 200, 200),
    "erase": ("POST", 302, 400, 400),
    "qualifications": ("GET", 302, 200, 200),
    "test": ("GET", 302, 404, 404),
    "ask": ("POST", 302, 302, 302),
    "external-submit": ("GET", 405, 405, 405),
    "metrics": ("GET", 404, 404, 404),
    "old-preview": ("GET", 302, 302, 302),
    "old-accept": ("GET", 302, 302, 302),
    "old-search": ("GET", 302, 302, 302),
    "old-find": ("GET", 302, 302, 302),
    "old-projects": ("GET", 302, 302, 302),
    "old-tasks": ("GET", 302, 302, 302),
    "old-task": ("GET", 302, 302, 302),
    "fixed-submit": ("GET", 405, 405, 405),
}
# What Prometheus reads is no page.
PAGES = sorted(
    name for name, row in TABLE.items() if row[0] == "GET" and row[2] != 405 and name != "metrics"
)


@pytest.fixture
def addresses(rita: Any, ada: Visitor, make_hit: Any) -> dict[str, str]:
    """The address of every route, as Ada has them while she works on a HIT with two places."""
    hit = make_hit(rita, MaxAssignments=2)
    ada.accept(hit)
    assignment = Assignment.objects.get()
    # One number names her assignment and a message to her.
    Message.objects.create(
        pk=assignment.pk,
        worker=ada.worker,
        requester=assignment.hit.requester,
        subject="s",
        text="t",
        sent_at=clock.now(),
    )
    made = rita.create_qualification_type(
        Name="W", Description="d", QualificationTypeStatus="Active"
    )
    given = {
        "token": "wrong",
        "hit_id": hit["HITId"],
        "hit_type_id": hit["HITTypeId"],
        "key": str(assignment.pk),
        "type_id": made["QualificationType"]["QualificationTypeId"],
        "secret": assignment.secret,
        "group_id": hit["HITGroupId"],
    }
    found = {}
    for pattern in get_resolver("marketplace.urls").url_patterns:
        if not isinstance(pattern, URLPattern):
            continue  # the desk has a table of its own
        address = written(str(pattern.pattern))
        for name, value in given.items():
            for kind in ("str", "int", "word"):
                address = address.replace(f"<{kind}:{name}>", value)
        found[str(pattern.name)] = address
    return found


def written(pattern: str) -> str:
    """Return the address of a pattern, the parts that vary as in `<word:name>`."""
    plain = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<word:\1>", pattern)
    return "/" + plain.removeprefix("^").removesuffix("/?$")


def test_the_table_has_every_route(addresses: dict[str, str]) -> None:
    assert set(addresses) == set(TABLE)


def test_each_role_gets_what_is_theirs(addresses: dict[str, str], ada: Visitor) -> None:
    people = [None, "Mallory", "Ada"]
    statuses = {
        name: (method, *(status(method, addresses[name], person) for person in people))
        for name, (method, *_) in TABLE.items()
    }
    assert statuses == TABLE


def status(method: str, address: str, person: str | None) -> int:
    """Return what somebody is answered; everything is as before afterwards."""
    client = Client(headers={"Host": HOST})
    with transaction.atomic("marketplace"):
        if person:
            client.post("/sign-in/", {"name": person})
        found = client.generic(method, address).status_code
        transaction.set_rollback(True, "marketplace")
    return int(found)


def test_no_page_can_be_framed_or_run_foreign_script(
    addresses: dict[str, str], ada: Visitor
) -> None:
    for name in PAGES:
        response = ada.client.get(addresses[name])
        policy = response["Content-Security-Policy"]
        # What a frame of ours opens may be read in it, and nowhere else.
        around = "'self'" if name.startswith("html-") else "'none'"
        assert f"frame-ancestors {around}" in policy, name
        assert "script-src 'self'; style-src 'self'" in policy, name
        assert response["Cache-Control"] == "no-store", name
        assert ("frame-src http: https:" in policy) is (name in ("work",)), name


def test_pages_hold_no_inline_script_or_style(addresses: dict[str, str], ada: Visitor) -> None:
    for name in PAGES:
        html = ada.get(addresses[name]).content.decode()
        assert "<style" not in html
        assert " style=" not in html
        assert "<script>" not in html
        assert " onclick" not in html


def test_forms_without_their_token_are_refused(addresses: dict[str, str], ada: Visitor) -> None:
    for name in (
        *(
            "accept",
            "next",
            "ask",
            "return",
            "extend",
            "preferences",
            "sign-out",
            "contest",
            "write",
        ),
        *(
            "report-payment",
            "payout-way",
            "reply",
            "language",
            "password",
            "personal-link",
            "erase",
        ),
    ):
        assert ada.client.post(addresses[name]).status_code == 403


def test_a_worker_s_pages_show_no_ids(addresses: dict[str, str], ada: Visitor) -> None:
    for name in ("available", "queue", "history", "earnings", "qualifications"):
        html = ada.get(addresses[name]).content.decode()
        text = re.sub(r"<[^>]*>", " ", html)
        assert ada.worker.worker_id not in html
        assert not re.search(r"\b3[A-Z0-9]{29}\b", text)


def test_a_list_costs_the_same_for_one_hit_and_for_many(
    rita: Any, ada: Visitor, make_hit: Any, django_assert_max_num_queries: Any
) -> None:
    for n in range(12):
        make_hit(rita, Title=f"Kind {n}")
    with django_assert_max_num_queries(12, connection=connections["marketplace"]):
        ada.client.get("/hits/")


@pytest.mark.parametrize(
    "path",
    [
        "/hits/%00/",
        "/hits/%00/question/",
        "/kinds/%00/",
        "/accepted/%00/question/",
        "/mturk/preview?groupId=%00",
        "/mturk/searchbar?searchWords=%00",
        "/projects/%00/tasks",
        "/accepted/%00/mturk/externalSubmit",
        "/mturk/externalSubmit?assignmentId=%00&workerId=%00&a=b",
        "/qualifications/%00/test/",
        "/join/?code=%00",
        "/desk/sign-in/?next=%00",
    ],
)
def test_a_nul_in_an_address_finds_nothing(ada: Visitor, path: str) -> None:
    assert ada.get(path).status_code in (200, 404)


def test_a_nul_in_a_form_is_left_out(ada: Visitor, rita: Any, make_hit: Any) -> None:
    ada.submit(make_hit(rita))
    path = f"/work/{Assignment.objects.get().pk}/write/"
    ada.post(path, path, subject="One\x00 more", text="A\x00B")
    letter = Message.objects.get()
    assert (letter.subject, letter.text) == ("One more", "AB")
    nobody = Client(headers={"Host": HOST})
    wrong = nobody.post("/desk/sign-in/", {"name": "Ida\x00", "password": "x"})
    assert wrong.status_code == 403
