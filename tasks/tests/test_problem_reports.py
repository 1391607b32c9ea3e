"""What workers report is answered once: they read it, and are paid what they are promised."""

import pytest

from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import (
    LeaseState,
    Payment,
    PaymentKind,
    ProblemReport,
    ReceiptState,
    Submission,
)
from tasks.people import problem_reports
from tasks.tests.deciding import SOON, make_confirmed, money
from tasks.tests.making import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def work(collection):
    return make_confirmed(collection)


@pytest.fixture
def report(work):
    return ProblemReport.objects.create(lease=work.lease, message="The link is dead.", at=NOW)


@pytest.fixture
def told(monkeypatch):
    """Return the letters that the marketplace was asked to pass on."""
    found = []

    def call(operation, **given):
        found.append(given)
        return {"NotifyWorkersFailureStatuses": []}

    monkeypatch.setattr(marketplace, "call", call)
    return found


def approve(report):
    """Let the work be approved: until some is, no letter reaches its worker."""
    Submission.objects.filter(lease=report.lease).update(state=ReceiptState.APPROVED)


def unfinished(report):
    """Let the report be about work that was never handed in."""
    lease = report.lease
    Payment.objects.all().delete()
    lease.submission.questions.all().delete()
    lease.submission.delete()
    lease.state = LeaseState.RETURNED
    lease.save()


def answer(report, words="It leads somewhere now.", cents=0):
    problem_reports.answer(report, words, cents, "rita", SOON)


def test_the_worker_reads_the_answer_once(collection, report, told):
    answer(report)
    approve(report)
    assert problem_reports.tell_reporters(collection, SOON) == 1
    assert problem_reports.tell_reporters(collection, SOON) == 0
    (letter,) = told
    assert letter["WorkerIds"] == [report.lease.worker.identity.person]
    assert letter["MessageText"] == ("It leads somewhere now.\n\nYou wrote:\nThe link is dead.")
    report.refresh_from_db()
    assert (report.answered_by, report.resolved_at, report.told_at) == ("rita", SOON, SOON)


def test_an_answer_that_nobody_heard_of_is_passed_on_later(collection, report, monkeypatch):
    def silent(operation, **given):
        raise MarketplaceError("It does not answer.", permanent=False)

    answer(report)
    approve(report)
    monkeypatch.setattr(marketplace, "call", silent)
    with pytest.raises(MarketplaceError):
        problem_reports.tell_reporters(collection, SOON)
    assert ProblemReport.objects.get().told_at is None


def test_an_answer_waits_until_a_letter_can_reach_its_worker(collection, report, told):
    answer(report)
    assert problem_reports.tell_reporters(collection, SOON) == 0
    assert told == []
    approve(report)
    assert problem_reports.tell_reporters(collection, SOON) == 1
    assert len(told) == 1


def test_a_letter_that_was_not_passed_on_is_not_taken_for_read(collection, report, monkeypatch):
    failed = {"NotifyWorkersFailureStatuses": [{"NotifyWorkersFailureCode": "HardFailure"}]}
    monkeypatch.setattr(marketplace, "call", lambda operation, **given: failed)
    answer(report)
    approve(report)
    assert problem_reports.tell_reporters(collection, SOON) == 0
    assert ProblemReport.objects.get().told_at is None


def test_trouble_with_what_was_handed_in_is_paid_by_a_bonus(collection, report):
    before = money(collection)
    answer(report, cents=75)
    report.refresh_from_db()
    assert (report.payment.kind, report.payment.amount_cents, report.payment.by) == (
        PaymentKind.BONUS,
        75,
        "rita",
    )
    assert money(collection) == (before[0], before[1] + 75)


def test_trouble_with_what_was_not_is_paid_by_a_hit_of_their_own(collection, report):
    unfinished(report)
    answer(report, cents=75)
    payment = Payment.objects.get(kind=PaymentKind.COMPENSATION)
    assert (payment.amount_cents, payment.posting.worker) == (75, report.lease.worker)


def test_what_cannot_be_is_refused_and_nothing_is_done(collection, report):
    for words, cents, sentence in (
        (" ", 0, "Write the worker an answer"),
        ("x" * 2001, 0, "at most 2,000 characters"),
        ("Sorry.", 10_000_000, "raise the budget"),
    ):
        with pytest.raises(ActionError, match=sentence):
            answer(report, words, cents)
    unfinished(report)
    with pytest.raises(ActionError, match=r"at most the HIT's reward, 4\.00"):
        answer(report, "Sorry.", 401)
    type(report.lease).objects.update(state=LeaseState.LIVE)
    with pytest.raises(ActionError, match="still at work"):
        answer(report, "Sorry.", 100)
    report.refresh_from_db()
    assert (report.answer, report.answered_at, report.resolved_at) == ("", None, None)
    assert not Payment.objects.filter(kind__in=["bonus", "compensation"]).exists()


def test_it_is_answered_and_compensated_once(collection, report):
    unfinished(report)
    answer(report, cents=75)
    with pytest.raises(ActionError, match="answered already"):
        answer(report, cents=75)
    other = ProblemReport.objects.create(lease=report.lease, message="Still dead.", at=NOW)
    with pytest.raises(ActionError, match="compensated already"):
        answer(other, cents=75)
    answer(other)
    assert Payment.objects.filter(kind=PaymentKind.COMPENSATION).count() == 1
