"""Every form of the workers' site and the desk: it refuses a page out of date, or says why it
needs no version.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import reverse

from common.tests.forms import hidden_in, posting_routes
from marketplace import clock
from marketplace.configuration import auto_approval_cap_seconds, payment_terms
from marketplace.models import (
    AuditEntry,
    Batch,
    ClassCode,
    InvitationDelivery,
    Project,
    Requester,
    Worker,
    WorkerProfile,
)
from marketplace.people.accounts import RequesterKeys, open_worker
from marketplace.people.grants import make_group
from marketplace.people.invitations import invite
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.desk_rows import keys_of_desk, keys_of_host
from marketplace.tests.test_batches import TERMS, draft, project
from marketplace.tests.test_desk_settings import SETTINGS


@dataclass(frozen=True)
class Shown:
    """A page that two people have open, what the first and the second send, and what is stored."""

    visitor: DeskVisitor
    page: str
    address: str
    first: dict[str, Any]
    second: dict[str, Any]
    stored: Callable[[], Any]


def settings_of_host() -> Shown:
    """The host's settings."""
    page = "/desk/settings/"
    return Shown(
        DeskVisitor("Ida"),
        page,
        page,
        SETTINGS,
        SETTINGS | {"payment_terms": "Nobody pays."},
        lambda: (payment_terms(), auto_approval_cap_seconds()),
    )


def account_by_host() -> Shown:
    """A requester's account, at the host's desk."""
    page = f"/desk/requesters/{Requester.objects.get().pk}/"
    return _account(DeskVisitor("Ida"), page, f"{page}account/")


def account_by_requester() -> Shown:
    """A requester's account, at their own desk."""
    return _account(DeskVisitor("Rita", Requester.objects.get()), *["/desk/account/"] * 2)


def _account(visitor: DeskVisitor, page: str, address: str) -> Shown:
    first, second = ({"contact": name, "payment_terms": ""} for name in ("a@b.example", "c"))
    stored = Requester.objects.values_list("contact", "payment_terms").get
    return Shown(visitor, page, address, first, second, stored)


def worker() -> Shown:
    """What the host knows of a worker."""
    open_worker("Ada", "", clock.now())
    page = f"/desk/workers/{Worker.objects.get().pk}/"
    first = {"name": "Ada L.", "mail": "ada@lab.example", "notes": "Came with the pilot."}
    return Shown(
        DeskVisitor("Ida"),
        page,
        page,
        first,
        {"name": "Ada", "mail": "ada@example.org", "notes": ""},
        lambda: (Worker.objects.get().display_name, WorkerProfile.objects.values().first()),
    )


def a_project() -> Shown:
    """A requester's project."""
    visitor = DeskVisitor("Rita", Requester.objects.get())
    terms = {"name": "Mine", "html": '<input name="a">', **TERMS}
    page = f"/desk/projects/{project(visitor, terms['html']).pk}/"
    first, second = terms | {"reward": "5.00"}, terms | {"title": "Another title"}
    return Shown(
        visitor, page, page, first, second, Project.objects.values_list("reward_cents", "title").get
    )


def columns() -> Shown:
    """The columns of a batch that is not published."""
    visitor = DeskVisitor("Rita", Requester.objects.get())
    made = draft(visitor, project(visitor, '${a}<input name="b">'), [{"x": "1", "y": "2"}])
    page = f"/desk/batches/{made.pk}/"
    stored = Batch.objects.values_list("mapping", flat=True).get
    return Shown(visitor, page, page, {"column-a": "x"}, {"column-a": "y"}, stored)


REFUSE = {
    "desk-settings": settings_of_host,
    "desk-change-account": account_by_host,
    "desk-account": account_by_requester,
    "desk-worker": worker,
    "desk-project": a_project,
    "desk-batch": columns,
}
_READS = "It changes nothing."
_STATE = "Its button names the state that it leads to: sent again, it is there already."
_ONCE = "Refused, or the same as once, when it was done already."
_OWN = "It is one person's own, and the last word counts."
_SHOWN_ONCE = "It makes what this one page shows; one more is listed and can be revoked."
_KEY = "It carries a key of its own: sent twice it is done once."
NEED_NONE = {
    "home": _READS,
    "metrics": _READS,
    "desk-home": _READS,
    "desk-messages": _READS,
    "desk-people": _READS,
    "desk-projects": _READS,
    "enter": _STATE,
    "join": _ONCE,
    "sign-in": _STATE,
    "sign-out": _STATE,
    "accept": _ONCE,
    "accept-any": "Each press accepts one more HIT, shown in the queue, which can be returned.",
    "next": "Each press accepts one more HIT, shown in the queue, which can be returned.",
    "return": _STATE,
    "extend": _ONCE,
    "contest": _ONCE,
    "report-payment": _ONCE,
    "payout-way": _OWN,
    "external-submit": _ONCE,
    "fixed-submit": _READS,
    "write": _KEY,
    "reply": _KEY,
    "ask": _ONCE,
    "test": "It names its attempt, which is handed in once.",
    "language": _OWN,
    "preferences": "It is one person's own, and what a form does not show stays as it is.",
    "password": _OWN,
    "personal-link": _SHOWN_ONCE,
    "leave-everywhere": _STATE,
    "erase": _ONCE,
    "desk-sign-in": _STATE,
    "desk-sign-out": _STATE,
    "desk-password": "It asks for the password before.",
    "desk-requesters": "A name is given once.",
    "desk-act-for": _STATE,
    "desk-act-no-more": _STATE,
    "desk-make-key": _SHOWN_ONCE,
    "desk-revoke-key": _STATE,
    "desk-credit": _KEY,
    "desk-make-user": "A name is given once.",
    "desk-renew-password": _SHOWN_ONCE,
    "desk-end-user": _STATE,
    "desk-import": "A person who is there is known again; what a row leaves empty stays.",
    "desk-close-worker": _STATE,
    "desk-merge": _ONCE,
    "desk-join-group": _STATE,
    "desk-leave-group": _STATE,
    "desk-groups": "A name is given once.",
    "desk-group": "Who is a member already stays one.",
    "desk-invitations": "A new link ends the one before, and each is listed.",
    "desk-resend": "A new link ends the one before, and each is listed.",
    "desk-make-code": "A label is given once.",
    "desk-revoke-code": _STATE,
    "desk-revoke": _STATE,
    "desk-payouts": "What stands on a list is put on no other.",
    "desk-confirm": "A payment is known by its reference.",
    "desk-drop-line": _ONCE,
    "desk-answer-report": _ONCE,
    "desk-new-project": "A name is given once.",
    "desk-add-rows": _KEY,
    "desk-publish": _STATE,
    "desk-stop": _STATE,
    "desk-decisions": "It shows what it will do first; what is decided already stays.",
    "desk-approve-codes": _STATE,
    "desk-batch-bonuses": _KEY,
    "desk-hit-bonuses": _KEY,
    "desk-send-again": "Each press sends an event once more, under its one id.",
    "desk-grant-shown": _ONCE,
    "desk-settle-request": _ONCE,
    "desk-settle-contest": _ONCE,
    "desk-reply": _KEY,
}


def test_every_form_refuses_a_page_out_of_date_or_needs_no_version() -> None:
    assert not {*REFUSE} & {*NEED_NONE}
    assert {*REFUSE, *NEED_NONE} == posting_routes("marketplace.urls")


@pytest.mark.parametrize("name", REFUSE)
def test_of_two_with_the_page_open_the_first_is_kept_and_the_second_refused(
    name: str, rita_keys: RequesterKeys, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    shown = REFUSE[name]()
    before, old = shown.stored(), shown.visitor.html(shown.page)
    assert hidden_in(old, shown.address)
    shown.visitor.send(old, shown.address, **shown.first)
    first = shown.stored()
    assert first != before
    refused = shown.visitor.send(old, shown.address, **shown.second)
    assert refused.status_code == 400
    page = refused.content.decode()
    assert "changed since the page was shown" in page
    assert shown.stored() == first
    # What was typed is still there, and who has looked may go on.
    shown.visitor.send(page, shown.address, **shown.second)
    assert shown.stored() != first


@pytest.mark.parametrize("name", [name for name in REFUSE if name != "desk-batch"])
def test_a_form_of_the_desk_sent_twice_is_kept_once(
    name: str, rita_keys: RequesterKeys, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    shown = REFUSE[name]()
    old = shown.visitor.html(shown.page)
    shown.visitor.send(old, shown.address, **shown.first)
    first = shown.stored()
    assert shown.visitor.send(old, shown.address, **shown.first).status_code == 200
    assert shown.stored() == first


def test_a_worker_s_account_is_closed_by_two_hosts_at_once_and_stays_closed(
    rita_keys: RequesterKeys, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    host = DeskVisitor("Ida")
    ada, _ = open_worker("Ada", "", clock.now())
    path = f"/desk/workers/{ada.pk}/"
    old = host.html(path)
    assert 'name="account" value="close"' in old
    for _ in range(2):
        page = host.send(old, f"{path}close/", account="close").content.decode()
        assert "The account is closed." in page
        ada.refresh_from_db()
        assert not ada.is_active
    assert AuditEntry.objects.filter(what__startswith="Closed the account").count() == 1
    host.post(path, f"{path}close/", account="open")
    ada.refresh_from_db()
    assert ada.is_active


@pytest.mark.parametrize(
    ("page", "route", "said", "fields"),
    [
        ("/desk/requesters/{}/", "desk-end-user", "Closed the sign-in", {}),
        ("/desk/requesters/{}/", "desk-revoke-key", "Revoked the key", {}),
        ("/desk/requesters/{}/", "desk-act-for", "Began to act", {}),
        ("/desk/invitations/", "desk-revoke", "Revoked the link", {}),
        ("/desk/invitations/", "desk-revoke-code", "Revoked the class code", {}),
        (
            "/desk/invitations/",
            "desk-make-code",
            "Made a class code",
            {"label": "Autumn class", "n_seats": "30", "days": "14"},
        ),
    ],
)
def test_a_host_s_button_pressed_twice_does_once_what_it_says(
    page: str,
    route: str,
    said: str,
    fields: dict[str, str],
    rita_keys: RequesterKeys,
    settings: Any,
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    host, rita = DeskVisitor("Ida"), Requester.objects.get()
    keys = {"desk-act-for": rita.pk, **keys_of_desk(rita)}
    keys |= keys_of_host(open_worker("Ada", "", clock.now())[0])
    path = reverse(route, "marketplace.urls", kwargs={"key": keys[route]} if route in keys else {})
    shown = host.html(page.format(rita.pk))
    assert f'action="{path}"' in shown
    for _ in range(2):
        host.send(shown, path, **fields)
    assert AuditEntry.objects.filter(what__startswith=said).count() == 1
    assert ClassCode.objects.count() == 1 + (route == "desk-make-code")


def test_who_is_put_into_a_group_or_taken_out_twice_is_logged_once(
    rita_keys: RequesterKeys, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    host, (ada, _) = DeskVisitor("Ida"), open_worker("Ada", "", clock.now())
    group = make_group("Team", "", clock.now())
    page, of_group = f"/desk/workers/{ada.pk}/", f"/desk/groups/{group.pk}/"
    shown = host.html(page)
    for _ in range(2):
        host.send(shown, f"{page}join/", group=f"{group.pk}")
    assert AuditEntry.objects.filter(what__startswith="Added to the group").count() == 1
    shown = host.html(of_group)
    for _ in range(2):
        host.send(shown, f"{of_group}leave/{ada.pk}/")
    assert AuditEntry.objects.filter(what__startswith="Took").count() == 1


def test_a_page_out_of_date_does_not_end_the_link_that_a_colleague_has_made_since(
    rita_keys: RequesterKeys, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    host, (ada, _) = DeskVisitor("Ida"), open_worker("Ada", "", clock.now())
    [old] = invite([ada], InvitationDelivery.LINKS, "Ida", clock.now())
    shown = host.html("/desk/invitations/")
    invite([ada], InvitationDelivery.LINKS, "Grace", clock.now())
    host.send(shown, f"/desk/invitations/{old.invitation.pk}/revoke/")
    ada.refresh_from_db()
    assert ada.link_digest
    assert ada.invitations.filter(revoked_at=None).count() == 1
