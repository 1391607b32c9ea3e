"""Workers say where their money is to go, and payout lists are files that services take."""

import csv
import io
from typing import Any

import pytest

from common.environment import WrongEnvironment, read_environment
from marketplace import clock
from marketplace.environment import Environment
from marketplace.erasure import erase
from marketplace.models import PayoutList, WorkerProfile
from marketplace.payouts import COLUMNS, FORMATS, confirm, make_list, remove_line
from marketplace.people.accounts import merge
from marketplace.tests.desk import DeskVisitor, rows_in
from marketplace.tests.visitor import Visitor

IBAN = "DE89 3704 0044 0532 0130 00"
HANDLES = {
    "Ada": ("paypal", "Ada@Example.org", "ada@example.org"),
    "Grace": ("iban", IBAN.lower(), "DE89370400440532013000"),
    "Mallory": ("gift", " mal@example.org ", "mal@example.org"),
    "Lin": ("phone", "+49 (170) 123-4567", "+491701234567"),
}
# As the services publish them.
PAYPAL = ["Recipient identifier", "Payment amount", "Currency", "Customer ID", "Note to recipient"]
WISE = (
    "name,recipientEmail,paymentReference,receiverType,amountCurrency,amount,sourceCurrency,"
    "targetCurrency,IBAN"
)


def enter(visitor: Visitor, way: str, handle: str, name: str = "A Name") -> Any:
    return visitor.post("/earnings/", "/earnings/way/", way=way, handle=handle, name=name)


@pytest.fixture
def made(rita: Any, make_hit: Any, settings: Any) -> PayoutList:
    """A list with 4.50 each for four people who chose four ways, and one who chose none."""
    settings.MARKETPLACE_OPEN_DESK = False
    hit = make_hit(rita, MaxAssignments=5)
    for name in [*HANDLES, "Olive"]:
        visitor = Visitor(name)
        visitor.submit(hit)
        if name in HANDLES:
            enter(visitor, *HANDLES[name][:2])
    for row in rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]:
        rita.approve_assignment(AssignmentId=row["AssignmentId"])
    found = make_list("Ida", clock.now())
    assert found is not None
    return found


def file_of(host: DeskVisitor, made: PayoutList, name: str, part: int = 1) -> list[list[str]]:
    response = host.get(f"/desk/payouts/{made.pk}/{name}-{part}.csv")
    assert response.status_code == 200, response.content
    return list(csv.reader(io.StringIO(response.content.decode())))


def test_what_workers_enter_is_kept_as_files_need_it(made: PayoutList) -> None:
    for name, (way, _, kept) in HANDLES.items():
        profile = WorkerProfile.objects.get(worker=Visitor(name).worker)
        assert (profile.payout_way, profile.payout_to) == (way, kept)
        assert kept in Visitor(name).get("/earnings/").content.decode()
    rows = rows_in(DeskVisitor("Ida").get(f"/desk/payouts/{made.pk}/list.csv"))
    assert list(rows[0]) == list(COLUMNS)
    assert {row["currency"] for row in rows} == {"USD"}
    assert [(row["pay_by"], row["pay_to"]) for row in rows][:2] == [
        ("PayPal", "ada@example.org"),
        ("bank transfer", "DE89370400440532013000"),
    ]


@pytest.mark.parametrize(
    ("way", "handle", "name", "said"),
    [
        ("iban", IBAN.replace("89", "98"), "Ada", "This is no IBAN"),
        ("iban", IBAN.replace("0532", "0523"), "Ada", "This is no IBAN"),
        ("iban", IBAN[:-1], "Ada", "This is no IBAN"),
        ("paypal", "ada", "Ada", "Write a whole mail address"),
        ("phone", "0170 1234567", "Ada", "Write the phone number with its country"),
        ("gift", "ada@example.org", " ", "Write your name"),
        ("gift", "ada@example.org", "x" * 81, "longer than 80"),
        ("cash", "here", "Ada", "Choose one of the ways"),
    ],
)
def test_what_cannot_be_right_is_said_and_kept_on_the_page(
    ada: Visitor, way: str, handle: str, name: str, said: str
) -> None:
    page = enter(ada, way, handle, name)
    assert page.status_code == 400
    assert said in page.content.decode()
    assert f'value="{handle}"' in page.content.decode()
    assert not WorkerProfile.objects.exists()


def test_a_way_can_be_taken_back_moves_with_an_account_and_is_erased_with_it(
    ada: Visitor, grace: Visitor
) -> None:
    enter(ada, "iban", IBAN)
    enter(ada, "", IBAN)
    assert WorkerProfile.objects.get().payout_to == ""
    enter(ada, "iban", IBAN)
    kept = grace.worker
    merge(kept, ada.worker, clock.now())
    assert WorkerProfile.objects.get(worker=kept).payout_to == HANDLES["Grace"][2]
    erase(kept, clock.now())
    assert not WorkerProfile.objects.exists()


def test_paypal_gets_its_columns_without_a_head(made: PayoutList, settings: Any) -> None:
    settings.MARKETPLACE_CURRENCY = "EUR"
    [row] = file_of(DeskVisitor("Ida"), made, "paypal")
    assert list(FORMATS["paypal"].columns) == [*PAYPAL, "Recipient wallet"]
    reference = made.lines.get(worker=Visitor("Ada").worker).reference
    assert row == ["ada@example.org", "4,50", "EUR", reference, "", "PAYPAL"]
    # "30 characters, no spaces".
    assert len(reference) <= 30
    assert " " not in reference


def test_wise_gets_its_columns(made: PayoutList, settings: Any) -> None:
    settings.MARKETPLACE_CURRENCY_SYMBOL = "€"
    head, row = file_of(DeskVisitor("Ida"), made, "wise")
    assert head == WISE.split(",")
    cells = dict(zip(head, row, strict=True))
    assert (cells["name"], cells["IBAN"]) == ("A Name", "DE89370400440532013000")
    assert (cells["receiverType"], cells["amountCurrency"]) == ("PERSON", "target")
    assert (cells["amount"], cells["targetCurrency"]) == ("4.50", "EUR")


def test_wise_changes_another_currency_into_the_euros_that_an_iban_takes(made: PayoutList) -> None:
    head, row = file_of(DeskVisitor("Ida"), made, "wise")
    cells = dict(zip(head, row, strict=True))
    assert (cells["amountCurrency"], cells["amount"]) == ("source", "4.50")
    assert (cells["sourceCurrency"], cells["targetCurrency"]) == ("USD", "EUR")


def test_tremendous_gets_what_its_help_names(made: PayoutList) -> None:
    host = DeskVisitor("Ida")
    head, row = file_of(host, made, "tremendous")
    assert head == ["Recipient name", "Recipient email", "Amount", "Currency", "Order ID"]
    assert row[:4] == ["A Name", "mal@example.org", "4.50", "USD"]
    head, row = file_of(host, made, "tremendous-sms")
    assert head[1] == "Recipient phone number"
    assert row[1] == "+491701234567"


def test_the_list_s_page_leads_to_each_file_with_what_is_left_to_pay(made: PayoutList) -> None:
    host, path = DeskVisitor("Ida"), f"/desk/payouts/{made.pk}/"
    page = host.html(path)
    assert "PayPal Payouts</a> (1)" in page
    assert "1 has not entered how to be paid" in page
    reference = made.lines.get(worker=Visitor("Ada").worker).reference
    confirm(f"reference,paid_on\n{reference},2026-01-02\n", "PayPal", clock.now())
    assert "PayPal" not in host.html(path).partition("<form")[0]
    assert host.get(f"{path}paypal-1.csv").status_code == 404


def test_a_long_list_is_files_as_long_as_the_service_takes(
    made: PayoutList, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.lines.exclude(pay_by="").update(pay_by="gift", pay_to="ada@example.org")
    shorter = vars(FORMATS["tremendous"]) | {"most_rows": 3}
    monkeypatch.setitem(FORMATS, "tremendous", type(FORMATS["tremendous"])(**shorter))
    host = DeskVisitor("Ida")
    assert "part 2</a> (1)" in host.html(f"/desk/payouts/{made.pk}/")
    assert len(file_of(host, made, "tremendous")) == 4
    # A line stays in its part, whatever is taken off or comes in meanwhile.
    [second] = file_of(host, made, "tremendous", 2)[1:]
    drop = made.lines.filter(pay_by="gift").order_by("pk")[0]
    assert remove_line(drop, clock.now())
    enter(Visitor("Olive"), "gift", "olive@example.org")
    assert file_of(host, made, "tremendous", 2)[1] == second
    assert file_of(host, made, "tremendous", 2)[2][1] == "olive@example.org"
    assert len(file_of(host, made, "tremendous")) == 3


def test_who_says_another_way_meanwhile_stands_in_one_file_alone(made: PayoutList) -> None:
    host = DeskVisitor("Ida")
    before = file_of(host, made, "paypal")
    page = enter(Visitor("Ada"), "iban", IBAN)
    assert "still goes where you said before" in page.content.decode()
    assert file_of(host, made, "paypal") == before
    assert len(file_of(host, made, "wise")) == 2
    rows = rows_in(host.get(f"/desk/payouts/{made.pk}/list.csv"))
    assert (rows[0]["pay_by"], rows[0]["pay_to"]) == ("PayPal", "ada@example.org")
    page = enter(Visitor("Olive"), "iban", IBAN)
    assert "The next payments go there" in page.content.decode()
    assert len(file_of(host, made, "wise")) == 3
    assert "not entered how to be paid" not in host.html(f"/desk/payouts/{made.pk}/")


def test_a_list_keeps_no_handle_of_who_was_erased(made: PayoutList) -> None:
    host = DeskVisitor("Ida")
    erase(Visitor("Ada").worker, clock.now())
    assert host.get(f"/desk/payouts/{made.pk}/paypal-1.csv").status_code == 404
    assert "ada@example.org" not in host.get(f"/desk/payouts/{made.pk}/list.csv").content.decode()


def test_a_currency_that_nobody_has_named_is_asked_for(made: PayoutList, settings: Any) -> None:
    settings.MARKETPLACE_CURRENCY_SYMBOL = "kr"
    refused = DeskVisitor("Ida").get(f"/desk/payouts/{made.pk}/wise-1.csv")
    assert refused.status_code == 409
    assert "MARKETPLACE_CURRENCY" in refused.content.decode()
    with pytest.raises(WrongEnvironment, match="ISO 4217"):
        read_environment(Environment, {"MARKETPLACE_CURRENCY": "euro"})
    with pytest.raises(WrongEnvironment, match="two decimals"):
        read_environment(Environment, {"MARKETPLACE_CURRENCY": "JPY"})


def test_what_was_paid_is_told_by_year_and_person(made: PayoutList) -> None:
    ada, grace = (
        made.lines.get(worker=Visitor(name).worker).reference for name in ("Ada", "Grace")
    )
    told = f"reference,paid_on\n{ada},2025-12-31\n{grace},2026-01-01\n"
    confirm(told, "cash", clock.now())
    rows = rows_in(DeskVisitor("Ida").get("/desk/payouts/paid-by-year.csv"))
    found = [(row["year"], row["name"], row["amount"], row["currency"]) for row in rows]
    assert found == [("2026", "A Name", "4.50", "USD"), ("2025", "A Name", "4.50", "USD")]
