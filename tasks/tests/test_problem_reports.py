"""What workers report is answered once: they read it, and are paid what they are promised."""

from datetime import timedelta

import pytest

from common.actions import ActionError
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.lifecycle import maintenance
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentKind,
    Posting,
    ProblemReport,
    ReceiptState,
    Submission,
)
from tasks.paying import bonuses
from tasks.people import reports
from tasks.tests.deciding import SOON, make_confirmed, money
from tasks.tests.making import (
    NOW,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions

pytestmark = pytest.mark.django_db
AFTER = NOW + timedelta(hours=5)


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
    reports.answer_problem(report, words, cents, "rita", SOON)


def test_the_worker_reads_the_answer_once(collection, report, told):
    answer(report)
    approve(report)
    assert reports.tell_reporters(collection, SOON) == 1
    assert reports.tell_reporters(collection, SOON) == 0
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
        reports.tell_reporters(collection, SOON)
    assert ProblemReport.objects.get().told_at is None


def test_an_answer_waits_until_a_letter_can_reach_its_worker(collection, report, told):
    answer(report)
    assert reports.tell_reporters(collection, SOON) == 0
    assert told == []
    approve(report)
    assert reports.tell_reporters(collection, SOON) == 1
    assert len(told) == 1


def test_a_letter_that_was_not_passed_on_is_not_taken_for_read(collection, report, monkeypatch):
    failed = {"NotifyWorkersFailureStatuses": [{"NotifyWorkersFailureCode": "HardFailure"}]}
    monkeypatch.setattr(marketplace, "call", lambda operation, **given: failed)
    answer(report)
    approve(report)
    assert reports.tell_reporters(collection, SOON) == 0
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
    assert bonuses.reroute_unsendable(collection, SOON) == 1
    payment = Payment.objects.get(kind=PaymentKind.BONUS)
    assert (payment.amount_cents, payment.posting.worker) == (75, report.lease.worker)


@pytest.fixture
def out_of_time(collection):
    """Return a stay whose time ran out with all of its work saved, in the hour for late work."""
    stage = stage_of(collection, "question")
    session = make_session(make_worker(), make_posting(stage))
    session.signed_until = NOW + timedelta(hours=4)
    session.save()
    lease = leases.claim(session, stage, NOW)
    leases.save_draft(lease, {"data": questions_for(lease)}, 0, NOW)
    leases.end(lease, LeaseState.EXPIRED, NOW + timedelta(hours=3))
    return lease


@pytest.mark.parametrize("late", [True, False], ids=["handed in late", "left as saved"])
def test_a_gift_for_a_report_leaves_the_pay_for_the_saved_work_as_it_was(
    collection, out_of_time, late
):
    report = ProblemReport.objects.create(lease=out_of_time, message="Dead.", at=NOW)
    answer(report, cents=10)
    lease = Lease.objects.get()
    if late:
        submissions.hand_in(lease, questions_for(lease), AFTER, synthetic=False)
    maintenance.pay_unfinished(collection, AFTER)
    bonuses.reroute_unsendable(collection, AFTER)
    work = PaymentKind.REWARD if late else PaymentKind.COMPENSATION
    paid = Payment.objects.values_list("kind", "amount_cents", "posting__worker")
    own = None if late else lease.worker_id
    assert set(paid) == {(work, 400, own), (PaymentKind.BONUS, 10, own)}
    assert money(collection)[1] == 410


def test_a_gift_while_they_are_at_work_does_not_end_it(collection):
    stage = stage_of(collection, "question")
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW)
    answer(ProblemReport.objects.create(lease=lease, message="Dead.", at=NOW), cents=10)
    lease = Lease.objects.get()
    assert submissions.hand_in(lease, questions_for(lease), SOON, synthetic=False).counts
    assert sorted(Payment.objects.values_list("amount_cents", flat=True)) == [10, 400]


def test_what_cannot_be_is_refused_and_nothing_is_done(collection, report):
    for words, cents, sentence in (
        (" ", 0, "Write the worker an answer"),
        ("x" * 2001, 0, "at most 2,000 characters"),
        ("Sorry.", 10_000_000, "raise the budget"),
    ):
        with pytest.raises(ActionError, match=sentence):
            answer(report, words, cents)
    report.refresh_from_db()
    assert (report.answer, report.answered_at, report.resolved_at) == ("", None, None)
    assert not Payment.objects.filter(kind__in=["bonus", "compensation"]).exists()


def test_each_report_is_answered_and_paid_once(collection, report):
    unfinished(report)
    answer(report, cents=75)
    with pytest.raises(ActionError, match="answered already"):
        answer(report, cents=75)
    other = ProblemReport.objects.create(lease=report.lease, message="Still dead.", at=NOW)
    answer(other, cents=25)
    assert bonuses.reroute_unsendable(collection, SOON) == 1
    assert Posting.objects.get(worker__isnull=False).reward_cents == 100
