"""At the desk a requester answers who asks for a qualification."""

import re
from typing import Any

import pytest

from marketplace.models import (
    AuditEntry,
    QualificationGrant,
    QualificationRequest,
    Requester,
    WorkerProfile,
)
from marketplace.people.grants import answered_questions
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.test_taking_tests import TEST, made
from marketplace.tests.visitor import Visitor


@pytest.fixture
def desk(rita: Any, settings: Any) -> DeskVisitor:
    """Rita's person at the desk."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Rita", Requester.objects.get(name="Rita"))


def ask(client: Any, *workers: Visitor) -> None:
    kind = client.create_qualification_type(
        Name="Reader", Description="Reads.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    for worker in workers:
        worker.post("/qualifications/", f"/qualifications/{kind}/ask/")


def test_a_test_is_read_in_its_own_words_and_granted_once(
    rita: Any, desk: DeskVisitor, ada: Visitor
) -> None:
    assert "Nobody waits" in desk.html("/desk/asked/")
    path = made(rita)
    ada.post(path, path, begin="1")
    ada.post(path, path, depth="pond", why="It <b>is</b>.\nI looked.")
    page = desk.html("/desk/asked/")
    assert 'count">1<' in page
    assert "Which is deeper?" in page
    assert '<p class="said">A pond</p>' in page
    assert "It &lt;b&gt;is&lt;/b&gt;.<br>I looked." in page
    address = f"/desk/asked/{QualificationRequest.objects.get().pk}/"
    assert "whole number" in desk.send(page, address, score="lots").content.decode()
    told = desk.send(page, address, score="85").content.decode()
    assert "has “Harbours” now, with score 85." in told
    assert QualificationGrant.objects.get().integer_value == 85
    assert desk.send(page, address, score="3").status_code == 404
    assert QualificationGrant.objects.get().integer_value == 85
    assert AuditEntry.objects.filter(what__startswith="Gave “Harbours” with score 85").exists()


def test_what_was_decided_names_the_worker_as_the_page_does(
    rita: Any, desk: DeskVisitor, ada: Visitor
) -> None:
    profile = WorkerProfile.objects.create(worker=ada.worker, mturk_id="A1OLD")
    profile.named_by.add(Requester.objects.get(name="Rita"))
    ask(rita, ada)
    page = desk.html("/desk/asked/")
    assert "<code>A1OLD</code> asks" in page
    address = f"/desk/asked/{QualificationRequest.objects.get().pk}/"
    assert "A1OLD has “Reader” now" in desk.send(page, address, score="85").content.decode()


def test_whoever_is_declined_reads_why(rita: Any, desk: DeskVisitor, ada: Visitor) -> None:
    ask(rita, ada)
    page = desk.html("/desk/asked/")
    address = f"/desk/asked/{QualificationRequest.objects.get().pk}/"
    told = desk.send(page, address, decline="1", reason=" ").content.decode()
    assert "Say in 1 to 1000 characters" in told
    desk.send(page, address, decline="1", reason="Read <more> first.")
    assert "Read &lt;more&gt; first." in ada.get("/qualifications/").content.decode()
    assert not QualificationGrant.objects.exists()


def test_a_page_of_one_type_is_granted_at_once(
    rita: Any, other_requester: Any, desk: DeskVisitor, ada: Visitor, grace: Visitor
) -> None:
    ask(rita, ada, grace)
    ask(other_requester, ada)
    theirs = QualificationRequest.objects.get(qualification_type__requester__name="Olive")
    kind = QualificationRequest.objects.first().qualification_type_id
    page = desk.html(f"/desk/asked/?type={kind}")
    shown = re.findall(r'name="shown" value="(\d+)"', page)
    assert len(shown) == 2
    told = desk.send(page, "/desk/asked/grant/", shown=[*shown, theirs.pk, "x"], score="1")
    assert "2 granted with score 1." in told.content.decode()
    assert desk.send(page, f"/desk/asked/{theirs.pk}/", score="1").status_code == 404
    theirs.refresh_from_db()
    assert theirs.state == "pending"
    assert QualificationGrant.objects.count() == 2


def test_an_unfinished_answer_is_no_fault() -> None:
    assert answered_questions("", "") == []
    assert [one.said for one in answered_questions(TEST, "")] == [(), ()]
