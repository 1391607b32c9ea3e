"""The host's settings, groups, imports and invitations as pages."""

from typing import Any

import pytest
from django.core import mail

from marketplace import clock
from marketplace.configuration import (
    SystemPolicy,
    auto_approval_cap_seconds,
    payment_terms,
    requesters_see_mail,
    system_policies,
)
from marketplace.models import AuditEntry, ClassCode, HITType, Invitation, Worker, WorkerGroup
from marketplace.people.accounts import open_worker
from marketplace.people.grants import add_members
from marketplace.tests.desk import DeskVisitor, rows_in
from marketplace.tests.test_worker_import import PEOPLE
from marketplace.tests.visitor import Visitor

SETTINGS = {
    "auto_approval_days": "2",
    "payment_terms": "The lab pays on the first of the month.",
    "n_approved": "imported",
    "percent_approved": "until_history",
    "locale": "enforce",
    "adult": "enforce",
    "masters": "until_history",
}


@pytest.fixture
def host(settings: Any) -> DeskVisitor:
    """Grace, the host."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Grace")


def test_settings_are_kept_and_each_change_is_logged(
    host: DeskVisitor, rita: Any, make_hit: Any
) -> None:
    assert system_policies()["n_approved"] == SystemPolicy.UNTIL_HISTORY
    host.post("/desk/settings/", "/desk/settings/", requesters_see_mail="on", **SETTINGS)
    assert auto_approval_cap_seconds() == 2 * 24 * 3600
    assert payment_terms() == "The lab pays on the first of the month."
    assert requesters_see_mail()
    assert system_policies()["n_approved"] == SystemPolicy.IMPORTED
    make_hit(rita)
    assert HITType.objects.get().auto_approval_delay_seconds == 2 * 24 * 3600
    assert {entry.what for entry in AuditEntry.objects.all()} == {
        "Set “Undecided work is approved after (days)” to 2",
        "Set “Who pays, how and by when” to The lab pays on the first of the month.",
        "Set “Requesters see the mail addresses of those who worked for them” to yes",
        "Set “Number of HITs approved” to Counts, with the history that was imported with the "
        "worker",
    }


@pytest.mark.parametrize(("name", "value"), [("auto_approval_days", "31"), ("masters", "maybe")])
def test_a_setting_that_cannot_be_is_refused(name: str, value: str, host: DeskVisitor) -> None:
    page = host.post("/desk/settings/", "/desk/settings/", **SETTINGS | {name: value})
    assert page.status_code == 400
    assert "field-problem" in page.content.decode()
    assert not AuditEntry.objects.exists()


def test_people_are_imported_on_a_page_after_a_look(host: DeskVisitor) -> None:
    path = "/desk/workers/import/"
    page = host.upload(path, path, PEOPLE).content.decode()
    assert "Nothing is changed yet. This file would bring: 2 new" in page
    assert not Worker.objects.exists()
    page = host.send(page, path, carried=PEOPLE, apply="1").content.decode()
    assert "Done: 2 new" in page
    assert Worker.objects.count() == 2
    empty = host.post(path, path)
    assert (empty.status_code, "Choose a file first" in empty.content.decode()) == (400, True)


def test_a_list_that_no_form_can_bring_back_is_refused_before_the_look(
    host: DeskVisitor, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_200_000
    path, row = "/desk/workers/import/", "Ada,ada@example.org,"
    page = host.upload(path, path, f"name,mail,notes\n{row}{'x' * 1_150_000}\n")
    assert page.status_code == 400
    assert "The file is larger than 1 MB. Split it" in page.content.decode()


def test_a_group_takes_ids_and_mail_addresses_and_names_who_is_unknown(host: DeskVisitor) -> None:
    path = "/desk/workers/import/"
    host.send(host.html(path), path, carried=PEOPLE, apply="1")
    host.post("/desk/groups/", "/desk/groups/", name="Panel")
    panel = WorkerGroup.objects.get(qualification_type__name="Panel")
    path = f"/desk/groups/{panel.pk}/"
    ada = Worker.objects.get(display_name="Ada")
    page = host.post(path, path, who=f"{ada.worker_id.lower()}, grace@example.org\nnobody@x.org")
    assert page.status_code == 400
    assert "Nobody here has nobody@x.org" in page.content.decode()
    assert panel.qualification_type.grants.count() == 2
    host.post(path, f"{path}leave/{ada.pk}/")
    assert panel.qualification_type.grants.filter(is_revoked=False).count() == 1
    again = host.post("/desk/groups/", "/desk/groups/", name="Panel")
    assert "There is a group Panel already" in again.content.decode()


def test_everybody_who_was_imported_gets_a_link(host: DeskVisitor) -> None:
    nobody = host.post("/desk/invitations/", "/desk/invitations/", who="never", delivery="links")
    assert "There is nobody to invite like this" in nobody.content.decode()
    host.send(host.html("/desk/"), "/desk/workers/import/", carried=PEOPLE, apply="1")
    path = "/desk/invitations/"
    lines = rows_in(host.post(path, path, who="never", delivery="links"))
    assert [line["mail"] for line in lines] == ["ada@example.org", "grace@example.org"]
    link = lines[0]["link"].removeprefix("http://127.0.0.1")
    assert "Ada" in Visitor().get(link).content.decode()
    page = host.post(path, path, who="waiting", delivery="print").content.decode()
    assert page.count('class="big-code"') == 2
    assert Visitor().get(link).status_code == 404
    first = Invitation.objects.filter(revoked_at=None).earliest("pk")
    host.post(path, f"{path}{first.pk}/revoke/")
    assert not Invitation.objects.filter(worker=first.worker, revoked_at=None).exists()
    group = host.post(path, path, who="group", delivery="links", group="")
    assert "Choose the group" in group.content.decode()


def test_more_than_one_press_can_take_are_invited_by_the_next(
    host: DeskVisitor, monkeypatch: Any
) -> None:
    monkeypatch.setattr("marketplace.desk.people_views.MOST_AT_ONCE", 1)
    host.send(host.html("/desk/"), "/desk/workers/import/", carried=PEOPLE, apply="1")
    spring = WorkerGroup.objects.get(qualification_type__name="Spring class")
    add_members(spring.qualification_type, Worker.objects.all(), clock.now())
    path = "/desk/invitations/"
    for who in ("group", "waiting"):
        pressed = [
            rows_in(host.post(path, path, who=who, delivery="links", group=str(spring.pk)))
            for _ in range(2)
        ]
        assert sorted(rows[0]["name"] for rows in pressed) == ["Ada", "Grace"]


def test_mail_is_offered_where_it_is_set_up(host: DeskVisitor, settings: Any) -> None:
    path = "/desk/invitations/"
    host.send(host.html("/desk/"), "/desk/workers/import/", carried=PEOPLE, apply="1")
    refused = host.post(path, path, who="never", delivery="mail")
    assert refused.status_code == 400
    settings.MARKETPLACE_MAIL_FROM = "host@lab.example"
    page = host.post(path, path, who="never", delivery="mail")
    assert "2 invitations were sent" in page.content.decode()
    assert len(mail.outbox) == 2
    worker = Worker.objects.get(display_name="Ada")
    host.post(f"/desk/workers/{worker.pk}/", f"/desk/workers/{worker.pk}/invite/", delivery="mail")
    assert len(mail.outbox) == 3


def test_a_class_code_is_made_shown_and_ended(host: DeskVisitor) -> None:
    path = "/desk/invitations/"
    host.post(path, f"{path}codes/", label="Spring class", n_seats="30", days="14", group="")
    code = ClassCode.objects.get()
    assert f"{code.code[:4]}-{code.code[4:]}" in host.html(path)
    host.post(path, f"{path}codes/{code.pk}/revoke/")
    code.refresh_from_db()
    assert code.revoked_at is not None


def test_what_changes_nothing_is_no_line_of_the_log(host: DeskVisitor) -> None:
    ada, _ = open_worker("Ada", "", clock.now())
    path = f"/desk/workers/{ada.pk}/"
    for _ in range(2):
        host.post(path, path, name="Ada L.", mail="ada@example.org", mturk_id="A1")
    lines = AuditEntry.objects.filter(what__contains=ada.worker_id)
    changed = f"Changed “Name”, “Mail address”, “Old MTurk id” of worker {ada.worker_id}"
    assert [line.what for line in lines] == [changed]


def test_a_worker_is_changed_closed_and_merged(host: DeskVisitor) -> None:
    ada, _ = open_worker("Ada", "", clock.now())
    other, _ = open_worker("Ada again", "", clock.now())
    path = f"/desk/workers/{ada.pk}/"
    host.post(path, path, name="Ada L.", mail="Ada@example.org", notes="n")
    ada.refresh_from_db()
    assert (ada.display_name, ada.profile.mail) == ("Ada L.", "ada@example.org")
    taken = host.post(
        f"/desk/workers/{other.pk}/", f"/desk/workers/{other.pk}/", name="B", mail="ada@example.org"
    )
    assert "Another worker has this mail address" in taken.content.decode()
    host.post(path, f"{path}close/", account="close")
    ada.refresh_from_db()
    assert not ada.is_active
    host.post(path, f"{path}close/", account="open")
    page = host.post(path, f"{path}merge/", second="ANOBODY")
    assert "There is no worker ANOBODY" in page.content.decode()
    page = host.post(path, f"{path}merge/", second=other.worker_id)
    assert "is part of this account now" in page.content.decode()
    assert "Ada L." in host.html("/desk/workers/?q=ada@EX")
    assert "Nobody is found" in host.html("/desk/workers/?q=zzz")
