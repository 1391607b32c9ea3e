"""Lists of what is owed go out, confirmations come back, both as often as one likes."""

from typing import Any

import pytest

from common.spreadsheet import UploadError
from marketplace import clock, funds
from marketplace.models import AuditEntry, Payout, PayoutLine, PayoutList
from marketplace.payouts import (
    PayoutError,
    confirm,
    make_list,
    owed_by_worker,
    record_payout,
    report_payment,
    rows_of,
)
from marketplace.tests.desk import DeskVisitor, rows_in, text_with
from marketplace.tests.visitor import Visitor, simulated


@pytest.fixture(autouse=True)
def _earned(rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, settings: Any) -> None:
    """Ada and Grace are each owed 4.50."""
    settings.MARKETPLACE_OPEN_DESK = False
    hit = make_hit(rita, MaxAssignments=2)
    ada.submit(hit)
    grace.submit(hit)
    for row in rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]:
        rita.approve_assignment(AssignmentId=row["AssignmentId"])


def test_what_is_owed_is_listed_once(ada: Visitor) -> None:
    assert sum(owed_by_worker().values()) == 900
    made = make_list("Ida", clock.now())
    assert made is not None
    assert make_list("Ida", clock.now()) is None
    assert PayoutList.objects.count() == 1
    assert rows_of(made, "$") == rows_of(made, "$")
    assert funds.owed_cents(ada.worker) == 450


def test_no_simulated_worker_stands_on_a_list(rita: Any, make_hit: Any) -> None:
    robot = simulated("Simulated worker 1")
    hit = make_hit(rita, Title="Another")
    robot.submit(hit)
    for row in rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]:
        rita.approve_assignment(AssignmentId=row["AssignmentId"])
    assert robot.worker.is_simulated
    assert funds.owed_cents(robot.worker) == 0
    assert "nobody is paid for it" in robot.get("/earnings/").content.decode()
    made = make_list("Ida", clock.now())
    assert made is not None
    assert sorted(row[2] for row in rows_of(made, "$")) == ["Ada", "Grace"]
    with pytest.raises(PayoutError, match="simulated"):
        record_payout(robot.worker.worker_id, 450, clock.now().date(), "cash", "R9", clock.now())


def test_whoever_was_a_person_stays_one(ada: Visitor) -> None:
    simulated("Ada")
    assert not ada.worker.is_simulated
    assert funds.owed_cents(ada.worker) == 450


def test_the_least_amount_waits_for_the_next_list() -> None:
    assert make_list("Ida", clock.now(), least_cents=451) is None


def test_a_list_goes_out_and_comes_back_any_number_of_times(ada: Visitor) -> None:
    host = DeskVisitor("Ida")
    page = host.post("/desk/payouts/", "/desk/payouts/")
    path = page.request["PATH_INFO"]
    rows = rows_in(host.get(f"{path}list.csv"))
    assert [row["amount"] for row in rows] == ["4.50", "4.50"]
    assert rows == rows_in(host.get(f"{path}list.csv"))
    rows[0] |= {"paid_on": clock.now().date().isoformat(), "amount": "4.5"}
    for sentence in ("1 payment recorded", "1 was recorded before"):
        page = host.upload(path, f"{path}confirm/", text_with(rows), method="bank transfer")
        assert sentence in page.content.decode()
    assert Payout.objects.get().reference == rows[0]["reference"]
    again = rows_in(host.get(f"{path}list.csv"))
    assert [row["method"] for row in again] == ["bank transfer", ""]
    assert "4.50" in ada.get("/earnings/").content.decode()
    log = [entry.what for entry in AuditEntry.objects.order_by("pk")]
    made = f"Made the payout list {PayoutList.objects.get().pk}"
    assert [what.split(",")[0] for what in log] == [made, "Confirmed 1 payment"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"reference": "9-ANOBODY"}, "There is no payment 9-ANOBODY"),
        ({"amount": "45.00"}, "was to be $4.50, not 45.00"),
        ({"paid_on": "last week"}, "Write the day “last week” as 2026-11-20"),
        ({"paid_on": "2999-01-01"}, "is in the future"),
        ({"method": ""}, "Say how it was paid"),
    ],
)
def test_a_confirmation_that_cannot_be_says_why(changes: dict[str, str], sentence: str) -> None:
    made = make_list("Ida", clock.now())
    assert made is not None
    line = made.lines.first()
    row = {"reference": line.reference, "amount": "4.50", "paid_on": "1.1.2026", "method": "cash"}
    found = confirm(text_with([row | changes]), "", clock.now())
    assert (found.n_new, Payout.objects.count()) == (0, 0)
    assert sentence in found.problems[0][1]
    assert confirm(text_with([row]), "", clock.now()).n_new == 1


def test_a_file_of_something_else_is_refused() -> None:
    with pytest.raises(UploadError, match="column reference is missing"):
        confirm("name,paid_on\nAda,2026-01-01\n", "", clock.now())


def test_money_paid_another_way_cannot_be_confirmed_again(ada: Visitor) -> None:
    made = make_list("Ida", clock.now())
    assert made is not None
    now = clock.now()
    record_payout(ada.worker.worker_id, 450, now.date(), "cash", "by hand", now)
    line = PayoutLine.objects.get(worker=ada.worker)
    row = {"reference": line.reference, "paid_on": "2026-01-01", "method": "cash"}
    found = confirm(text_with([row]), "", now)
    assert "is owed $0.00" in found.problems[0][1]


def test_a_line_taken_off_is_owed_again() -> None:
    host = DeskVisitor("Ida")
    path = host.post("/desk/payouts/", "/desk/payouts/").request["PATH_INFO"]
    line = PayoutLine.objects.earliest("pk")
    page = host.post(path, f"/desk/payments/{line.pk}/drop/")
    assert "owed again" in page.content.decode()
    assert list(owed_by_worker().values()) == [450]
    row = {"reference": line.reference, "paid_on": "2026-01-01", "method": "cash"}
    assert "taken off" in confirm(text_with([row]), "", clock.now()).problems[0][1]
    page = host.send(host.html(path), f"/desk/payments/{line.pk}/drop/")
    assert "was paid or taken off before" in page.content.decode()


def test_a_report_is_answered_once(ada: Visitor) -> None:
    host = DeskVisitor("Ida")
    report = report_payment(ada.worker, "October is missing.", clock.now())
    assert "October is missing." in host.html("/desk/payouts/")
    path = f"/desk/reports/{report.pk}/answer/"
    host.post("/desk/payouts/", path, answer="It left today.")
    report.refresh_from_db()
    assert report.answer == "It left today."
    page = host.send(host.html("/desk/payouts/"), path, answer="Again")
    assert "answered before" in page.content.decode()


def test_what_the_clock_approved_is_owed_though_nobody_looked(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    ada.submit(make_hit(rita))
    later(days=6)
    host = DeskVisitor("Ida")
    assert "13.50" in host.html("/desk/payouts/")
    ada.submit(make_hit(rita))
    later(days=6)
    now = clock.now()
    made = make_list("Ida", now)
    assert made is not None
    assert made.lines.get(worker=ada.worker).amount_cents == 1350
    ada.submit(make_hit(rita))
    later(days=6)
    now = clock.now()
    paid = record_payout(ada.worker.worker_id, 1800, now.date(), "cash", "all of it", now)
    assert paid.amount_cents == 1800
