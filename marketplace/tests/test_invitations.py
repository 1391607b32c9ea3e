"""Workers invited by link, mail, paper and class code; two accounts of one person merged."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail

from marketplace import clock, funds
from marketplace.erasure import erase
from marketplace.models import (
    Assignment,
    ClassCode,
    Invitation,
    InvitationDelivery,
    Worker,
    WorkerProfile,
    WorkerSession,
)
from marketplace.people.accounts import MergeError, merge, open_worker
from marketplace.people.grants import make_group
from marketplace.people.invitations import (
    InvitationError,
    class_code_of,
    invite,
    make_class_code,
    mark_used,
    revoke,
    send,
    take_seat,
)
from marketplace.people.worker_import import Outcome
from marketplace.tests.test_worker_import import PEOPLE, imported
from marketplace.tests.visitor import Visitor


def workers() -> list[Worker]:
    imported(PEOPLE)
    return list(Worker.objects.select_related("profile").order_by("pk"))


def test_a_personal_link_lets_in_and_into_the_group_when_it_is_used() -> None:
    people = workers()
    group = make_group("Panel", "", clock.now())
    now = clock.now()
    letters = invite(people, InvitationDelivery.LINKS, "Grace", now, group.qualification_type)
    assert not group.qualification_type.grants.exists()
    page = Visitor().get(f"/enter/{letters[0].token}/")
    assert "Ada" in page.content.decode()
    visitor = Visitor()
    html = visitor.get(f"/enter/{letters[0].token}/").content.decode()
    visitor.send_from(html, f"/enter/{letters[0].token}/")
    assert [grant.worker for grant in group.qualification_type.grants.all()] == [people[0]]
    assert Invitation.objects.get(worker=people[0]).used_at is not None
    assert Invitation.objects.get(worker=people[1]).used_at is None


def test_a_new_invitation_ends_the_link_before_and_keeps_its_promise() -> None:
    ada = workers()[0]
    panel = make_group("Panel", "", clock.now()).qualification_type
    [first] = invite([ada], InvitationDelivery.LINKS, "Grace", clock.now(), panel, 7)
    [second] = invite([ada], InvitationDelivery.PRINT, "Grace", clock.now())
    assert Visitor().get(f"/enter/{first.token}/").status_code == 404
    assert Visitor().get(f"/enter/{second.token}/").status_code == 200
    assert len(second.token) == 12
    mark_used(ada, clock.now())
    mark_used(ada, clock.now())
    assert panel.grants.get().integer_value == 7


def test_a_revoked_link_lets_nobody_in_and_signs_out() -> None:
    ada = workers()[0]
    [letter] = invite([ada], InvitationDelivery.LINKS, "Grace", clock.now())
    visitor = Visitor()
    html = visitor.get(f"/enter/{letter.token}/").content.decode()
    visitor.send_from(html, f"/enter/{letter.token}/")
    revoke(letter.invitation, clock.now())
    assert not WorkerSession.objects.exists()
    assert Visitor().get(f"/enter/{letter.token}/").status_code == 404


def test_mail_goes_out_and_what_could_not_is_kept(settings: Any) -> None:
    settings.MARKETPLACE_MAIL_FROM = "host@lab.example"
    people = workers()
    WorkerProfile.objects.filter(worker=people[1]).update(mail=None)
    people[1].refresh_from_db()
    letters = invite(people, InvitationDelivery.MAIL, "Grace", clock.now())
    assert send(letters, "https://m.example", clock.now()) == (1, 1)
    [sent] = mail.outbox
    assert (sent.to, sent.from_email) == (["ada@example.org"], "host@lab.example")
    assert f"https://m.example/enter/{letters[0].token}/" in sent.body
    first, second = Invitation.objects.order_by("pk")
    assert (first.sent_at is not None, first.failure) == (True, "")
    assert (second.sent_at, "No mail address" in second.failure) == (None, True)


def test_a_mail_server_s_refusal_is_kept_too(settings: Any, monkeypatch: Any) -> None:
    def refuse(*given: Any) -> None:
        raise OSError("451 try later")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    letters = invite(workers()[:1], InvitationDelivery.MAIL, "Grace", clock.now())
    assert send(letters, "https://m.example", clock.now()) == (0, 1)
    assert "451 try later" in Invitation.objects.get().failure


def test_a_class_code_has_seats_and_an_end(later: Any) -> None:
    panel = make_group("Panel", "", clock.now()).qualification_type
    code = make_class_code("Spring class", 2, 14, "Grace", clock.now(), panel)
    for name in ("Ada", "Grace"):
        take_seat(code, name, clock.now())
    with pytest.raises(InvitationError, match="Every place"):
        take_seat(code, "Mallory", clock.now())
    assert (Worker.objects.count(), panel.grants.count()) == (2, 2)
    with pytest.raises(InvitationError, match="name of 1 to"):
        take_seat(code, " ", clock.now())
    assert class_code_of(code.code.lower(), clock.now()) == code
    assert class_code_of(code.code, clock.now() + timedelta(days=15)) is None


@pytest.mark.parametrize(("label", "seats", "days"), [("", 1, 1), ("x", 0, 1), ("x", 1, 366)])
def test_a_class_code_needs_a_name_seats_and_days(label: str, seats: int, days: int) -> None:
    with pytest.raises(InvitationError):
        make_class_code(label, seats, days, "Grace", clock.now())


def test_one_joins_with_a_code_from_the_wall(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_SIGN_IN = False
    code = make_class_code("Spring class", 1, 14, "Grace", clock.now())
    visitor = Visitor()
    spelled = f"{code.code[:4].lower()}-{code.code[4:]} "
    page = visitor.post(f"/join/?code={spelled}", "/join/", code=spelled, name="Ada")
    html = page.content.decode()
    assert "Welcome, Ada" in html
    assert "/enter/" in html
    assert visitor.get("/hits/").status_code == 200
    full = Visitor().post(f"/join/?code={code.code}", "/join/", code=code.code, name="Eve")
    assert (full.status_code, "Every place" in full.content.decode()) == (400, True)
    wrong = Visitor().get("/join/?code=NOTHING")
    assert (wrong.status_code, "not known here" in wrong.content.decode()) == (404, True)
    ClassCode.objects.update(revoked_at=clock.now())
    assert Visitor().get(f"/join/?code={code.code}").status_code == 404


def test_the_same_form_again_takes_no_second_seat() -> None:
    code = make_class_code("Spring class", 3, 14, "Ida", clock.now()).code
    visitor, page = Visitor(), f"/join/?code={code}"
    for name in ("Ada", " Ada ", "Grace"):
        assert visitor.post(page, "/join/", code=code, name=name).status_code == 200
    assert ClassCode.objects.get().n_taken == 2
    assert sorted(Worker.objects.values_list("display_name", flat=True)) == ["Ada", "Grace"]


def test_a_printed_code_leads_to_the_personal_link() -> None:
    [letter] = invite(workers()[:1], InvitationDelivery.PRINT, "Grace", clock.now())
    page = Visitor().get(f"/join/?code={letter.code.lower()}")
    assert "Ada" in page.content.decode()
    assert page.request["PATH_INFO"] == f"/enter/{letter.token}/"


def test_two_accounts_become_one_with_work_money_and_groups(rita: Any, make_hit: Any) -> None:
    kept, second = Visitor("Ada"), Visitor("Ada again")
    one, both = make_hit(rita, MaxAssignments=2), make_hit(rita, MaxAssignments=2)
    second.submit(one)
    kept.submit(both)
    second.submit(both)
    rows = rita.list_assignments_for_hit(HITId=one["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=rows[0]["AssignmentId"])
    imported(f"worker_id,mail,notes\n{second.worker.worker_id},ada@example.org,was here\n")
    old = second.worker
    assert merge(kept.worker, old, clock.now()) == 1
    assert funds.owed_cents(kept.worker) == 450
    assert Assignment.objects.filter(worker=kept.worker).count() == 2
    assert kept.worker.profile.mail == "ada@example.org"
    old.refresh_from_db()
    assert (old.is_active, old.merged_into) == (False, kept.worker)
    assert not old.sessions.exists()
    report = imported("name,mail\nAda,ada@example.org\n")
    assert report.lines[0].outcome == Outcome.SAME


def test_what_both_accounts_did_goes_on_earning_for_the_person(
    rita: Any, make_hit: Any, later: Any
) -> None:
    kept, second = Visitor("Ada"), Visitor("Ada again")
    hit = make_hit(rita, MaxAssignments=2)
    kept.submit(hit)
    second.submit(hit)
    old_id = second.worker.worker_id
    assert merge(kept.worker, second.worker, clock.now()) == 1
    assert "2 HITs, the first approved" in kept.get("/earnings/").content.decode()
    [row] = [
        one
        for one in rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
        if one["WorkerId"] == old_id
    ]
    rita.send_bonus(
        WorkerId=old_id, AssignmentId=row["AssignmentId"], BonusAmount="0.50", Reason="Thanks."
    )
    rita.approve_assignment(AssignmentId=row["AssignmentId"])
    assert funds.owed_cents(kept.worker) == 500
    later(days=6)
    statement = kept.get("/earnings/statement.csv").content.decode()
    assert statement.count("Ask questions about a passage") == 3
    assert funds.owed_cents(kept.worker) == 950


def test_merging_refuses_what_makes_no_sense() -> None:
    ada, _ = open_worker("Ada", "", clock.now())
    other, _ = open_worker("Ada", "", clock.now())
    with pytest.raises(MergeError, match="one account already"):
        merge(ada, ada, clock.now())
    merge(ada, other, clock.now())
    with pytest.raises(MergeError, match="closed or merged"):
        merge(other, ada, clock.now())
    gone, _ = open_worker("Grace", "", clock.now())
    erase(gone, clock.now())
    with pytest.raises(MergeError, match="was erased"):
        merge(ada, gone, clock.now())


def test_a_second_account_s_id_goes_on_naming_the_person(rita: Any, make_hit: Any) -> None:
    ada, _ = open_worker("Ada", "", clock.now())
    other, _ = open_worker("Ada", "", clock.now())
    merge(ada, other, clock.now())
    made = rita.create_qualification_type(
        Name="W", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]
    which = {"QualificationTypeId": made["QualificationTypeId"], "WorkerId": other.worker_id}
    rita.associate_qualification_with_worker(**which)
    assert rita.get_qualification_score(**which)["Qualification"]["WorkerId"] == ada.worker_id


def test_a_message_to_both_ids_reaches_the_person_once(rita: Any, make_hit: Any) -> None:
    kept, second = Visitor("Ada"), Visitor("Ada again")
    hit = make_hit(rita)
    second.submit(hit)
    [row] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=row["AssignmentId"])
    ids = [kept.worker.worker_id, second.worker.worker_id]
    merge(kept.worker, second.worker, clock.now())
    sent = rita.notify_workers(Subject="Thanks", MessageText="All good.", WorkerIds=ids)
    assert sent["NotifyWorkersFailureStatuses"] == []
    assert kept.worker.messages.count() == 1
