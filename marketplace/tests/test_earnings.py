"""What a worker reads of money: four amounts, a statement, a word on a missing payment."""

import csv
import io
from typing import Any

import pytest

from marketplace import clock
from marketplace.models import Assignment, PaymentReport, Requester
from marketplace.payouts import PayoutError, answer_report, record_payout
from marketplace.tests.visitor import Visitor


@pytest.fixture
def paid(rita: Any, ada: Visitor, make_hit: Any) -> Visitor:
    """Ada, with work that was approved, given a bonus and partly paid, and work that waits."""
    ada.submit(make_hit(rita, Title="=1+1"))
    one = Assignment.objects.get()
    rita.approve_assignment(AssignmentId=one.assignment_id)
    rita.send_bonus(
        WorkerId=ada.worker.worker_id,
        BonusAmount="1.50",
        AssignmentId=one.assignment_id,
        Reason="Fine.",
    )
    ada.submit(make_hit(rita, Title="Other", Reward="2.00"))
    now = clock.now()
    record_payout(ada.worker.worker_id, 400, now.date(), "cash", "R1", now)
    return ada


def test_the_statement_adds_up_and_keeps_pending_apart(paid: Visitor) -> None:
    response = paid.get("/earnings/statement.csv")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [(row["kind"], row["amount"], row["owed_after"]) for row in rows] == [
        ("reward", "4.50", "4.50"),
        ("bonus", "1.50", "6.00"),
        ("payout", "4.00", "2.00"),
        ("pending", "2.00", ""),
    ]
    assert rows[0]["hit"] == "'=1+1"
    assert "R1" in rows[2]["note"]


def test_the_four_amounts_are_apart(paid: Visitor) -> None:
    page = paid.get("/earnings/").content.decode()
    for amount in ("<dd>$2.00</dd>", "<dd>$4.00</dd>"):
        assert amount in page
    # Bonuses are approved with what they are given for: what is owed and paid adds up to this.
    assert "<dt>Approved in all</dt><dd>$6.00</dd>" in page
    assert "$4.50 in rewards and $1.50 in bonuses" in page
    assert page.count("<dd>$2.00</dd>") == 2


def test_why_a_bonus_was_sent_stands_with_the_work_and_in_the_history(paid: Visitor) -> None:
    assert "Bonus of $1.50: “Fine.”" in paid.get("/history/").content.decode()
    page = paid.get(f"/work/{Assignment.objects.earliest('pk').pk}/submitted/").content.decode()
    assert "A bonus of <strong>$1.50</strong> came on <time" in page
    assert "<blockquote>Fine.</blockquote>" in page


def test_the_last_week_and_when_it_is_paid_stand_apart(
    paid: Visitor, settings: Any, later: Any
) -> None:
    page = paid.get("/earnings/").content.decode()
    assert "<dt>Last 7 days</dt><dd>$8.00</dd>" in page
    assert "The host of this marketplace has not said how and when it pays." in page
    settings.MARKETPLACE_PAYMENT_TERMS = "By bank transfer, every Friday."
    later(days=8)
    page = paid.get("/earnings/").content.decode()
    assert "<dt>Last 7 days</dt><dd>$0.00</dd>" in page
    assert "By bank transfer, every Friday." in page


def test_a_requesters_own_terms_stand_with_what_is_owed(paid: Visitor, grace: Visitor) -> None:
    unsaid = "has not said how and when it pays"
    assert unsaid in paid.get("/earnings/").content.decode()
    Requester.objects.update(payment_terms="Cash, every Friday.")
    page = paid.get("/earnings/").content.decode()
    assert "Rita pays: Cash, every Friday." in page
    assert unsaid not in page
    assert "Rita pays" not in grace.get("/earnings/").content.decode()


def test_terms_stand_under_the_name_in_which_the_work_was_asked_for(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    Requester.objects.update(payment_terms="Cash, every Friday.")
    for title in ("First", "Second"):
        ada.submit(make_hit(rita, Title=title, Keywords="asked-by:Lab for Reading"))
    page = ada.get("/earnings/").content.decode()
    assert page.count("Lab for Reading pays: Cash, every Friday.") == 1
    assert "Rita pays" not in page


def test_a_missing_payment_is_reported_and_answered(paid: Visitor) -> None:
    page = paid.post("/earnings/", "/earnings/report/", text="Two dollars are missing.")
    assert "Not answered yet" in page.content.decode()
    again = paid.send("/earnings/report/", text="Still missing.")
    assert again.status_code == 400
    report = PaymentReport.objects.get()
    assert report.owed_cents == 200
    answer_report(report, "They leave on Friday.", clock.now())
    with pytest.raises(PayoutError, match="before"):
        answer_report(report, "Twice.", clock.now())
    assert "They leave on Friday." in paid.get("/earnings/").content.decode()


def test_an_empty_or_endless_report_is_refused(paid: Visitor) -> None:
    for text in ("", "x" * 2001):
        response = paid.post("/earnings/", "/earnings/report/", text=text)
        assert response.status_code == 400
    assert "x" * 2001 in response.content.decode()
    assert not PaymentReport.objects.exists()
