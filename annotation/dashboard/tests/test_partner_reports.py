"""Reports of partners are read with their dialog, and decided without touching anybody's pay."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.dashboard.tests.making import make_submission
from tasks.crowd import marketplace
from tasks.dialog import moves, settlement
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.dialog.tests.talking import SOON, pair, talk
from tasks.models import Grant, GrantState, PartnerReport, Payment, ReceiptState, Submission
from tasks.people import qualifications, reports
from tasks.tests.making import make_worker, stage_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def report():
    """Return what the student says of the teacher, after two turns."""
    stage = stage_of(make_dialogs(2), "dialog")
    make_waiting(stage, "AADA")
    row = pair(make_waiting(stage, "AGRACE"))
    talk(row, 2)
    over = moves.report(row.pk, row.student_ticket, "rude", "They swore at me.", SOON)
    settlement.settle(over, SOON)
    return PartnerReport.objects.get()


def address(name, report):
    return reverse(name, kwargs={"slug": report.dialog.stage.collection.slug})


def decide(rita, report, decision, words=""):
    where = address("partners", report) + ("?show=decided" if report.decision else "")
    shown = rita.get(where).content.decode().partition(f'name="report" value="{report.pk}"')[2]
    seen = re.search(r'name="seen" value="(\w+)"', shown)[1]
    given = {"report": report.pk, "decision": decision, "words": words, "seen": seen}
    page = rita.post(address("decide_report", report), given, follow=True)
    report.refresh_from_db()
    return page.content.decode()


def grants(report):
    return Grant.objects.filter(worker=report.reported, state=GrantState.GRANTED).count()


def test_a_report_is_shown_with_all_that_was_said(rita, report):
    page = rita.get(address("partners", report)).content.decode()
    assert "the teacher, was rude" in page
    assert "They swore at me." in page
    assert page.count("What did he do next?") == 2
    assert "He was" in page
    assert "Reports of partners" in rita.get(address("problems", report)).content.decode()


def test_nothing_to_do_is_a_decision(rita, report):
    assert "nothing to do" in decide(rita, report, "nothing")
    assert (report.decision, report.decided_by) == ("nothing", "owner")
    assert "Every report is decided" in rita.get(address("partners", report)).content.decode()
    assert grants(report) == 2


def test_a_warning_is_told_once_in_the_words_of_the_requester(rita, report, monkeypatch):
    sent = []

    def call(operation, **given):
        sent.append(given)
        return {"NotifyWorkersFailureStatuses": []}

    monkeypatch.setattr(marketplace, "call", call)
    decide(rita, report, "warn", "Do not swear at anybody.")
    collection = report.dialog.stage.collection
    # No letter reaches anybody whose work was never decided.
    assert reports.tell_warned(collection, timezone.now()) == 0
    make_submission(stage_of(collection, "teacher_qualification"), report.reported)
    Submission.objects.update(state=ReceiptState.APPROVED)
    assert reports.tell_warned(collection, timezone.now()) == 1
    assert reports.tell_warned(collection, timezone.now()) == 0
    [letter] = sent
    assert letter["MessageText"] == "Do not swear at anybody."
    assert letter["WorkerIds"] == [report.reported.identity.person]


def test_withdrawing_takes_the_role_they_had_and_nothing_they_earned(rita, report):
    earned = list(Payment.objects.values_list("key", "amount_cents", "state"))
    decide(rita, report, "withdraw", "You were rude to a partner.")
    lost = Grant.objects.get(worker=report.reported, state=GrantState.DECLINED)
    assert lost.qualification.stage.name == "teacher_qualification"
    assert lost.note == "You were rude to a partner."
    assert list(Payment.objects.values_list("key", "amount_cents", "state")) == earned


def test_a_report_decided_again_gives_the_role_back(rita, report):
    decide(rita, report, "withdraw", "You were rude to a partner.")
    assert grants(report) == 1
    decide(rita, report, "warn", "Be kind.")
    assert grants(report) == 2
    assert not Grant.objects.filter(worker=report.reported).exclude(note="").exists()
    # What a person has decided about the qualification since is theirs.
    decide(rita, report, "withdraw", "You were rude to a partner.")
    lost = Grant.objects.get(worker=report.reported, state=GrantState.DECLINED)
    qualifications.decide(lost, granted=False, note="Copied.", by="grace", now=timezone.now())
    decide(rita, report, "nothing")
    assert grants(report) == 1


def test_a_role_that_two_reports_withdrew_comes_back_with_the_second(rita, report):
    second = PartnerReport.objects.create(
        dialog=report.dialog,
        reporter=make_worker("MALLORY"),
        reported=report.reported,
        reason="rude",
        at=SOON,
    )
    decide(rita, report, "withdraw", "You were rude to a partner.")
    decide(rita, second, "withdraw", "And to another one.")
    decide(rita, second, "nothing")
    lost = Grant.objects.get(worker=report.reported, state=GrantState.DECLINED)
    assert lost.note == "You were rude to a partner."
    decide(rita, report, "nothing")
    assert grants(report) == 2


def test_the_role_is_withdrawn_from_and_given_back_to_somebody_let_in_without_a_test(rita, report):
    Grant.objects.filter(worker=report.reported).update(is_let_in=True, submitted_at=None)
    decide(rita, report, "withdraw", "You were rude to a partner.")
    assert grants(report) == 1
    decide(rita, report, "nothing")
    assert grants(report) == 2


@pytest.mark.parametrize(("decision", "said"), [("warn", "Say in a sentence"), ("", "Choose")])
def test_what_cannot_be_told_or_was_not_chosen_is_refused(rita, report, decision, said):
    assert said in decide(rita, report, decision)
    assert report.decision == ""


def test_a_report_of_another_collection_is_not_found(rita, report):
    given = {"report": report.pk + 1, "decision": "nothing"}
    assert rita.post(address("decide_report", report), given).status_code == 404
