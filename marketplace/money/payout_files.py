"""Writes what is to pay as the files that PayPal, Wise and Tremendous take."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import QuerySet

from common.spreadsheet import csv_text
from marketplace.configuration import currency
from marketplace.models import PayoutLine, PayoutList, PayoutWay
from marketplace.money.amounts import amount_of
from marketplace.money.payout_lists import OPEN


@dataclass(frozen=True)
class PayoutFormat:
    """How a service reads payments: for whom, under which columns, how many in one file.

    `row` takes a line whose worker's profile is loaded, and the currency by ISO 4217.
    """

    title: str
    way: PayoutWay
    columns: tuple[str, ...]
    has_head: bool
    most_rows: int
    row: Callable[[PayoutLine, str], tuple[str, ...]]


def _paypal(line: PayoutLine, code: str) -> tuple[str, ...]:
    amount = amount_of(line.amount_cents)
    if code == "EUR":
        # PayPal asks for an amount as its currency is written.
        amount = amount.replace(".", ",")
    return (line.worker.profile.payout_to, amount, code, line.reference, "", "PAYPAL")


def _wise(line: PayoutLine, code: str) -> tuple[str, ...]:
    profile = line.worker.profile
    amount = amount_of(line.amount_cents)
    # "target": the recipient gets the amount, and fees are the sender's.
    terms = ("PERSON", "target", amount, code, code)
    return (profile.payout_name, profile.mail or "", line.reference, *terms, profile.payout_to)


def _tremendous(line: PayoutLine, code: str) -> tuple[str, ...]:
    profile = line.worker.profile
    amount = amount_of(line.amount_cents)
    return (profile.payout_name, profile.payout_to, amount, code, line.reference)


FORMATS = {
    # developer.paypal.com, "Payouts Web": six columns in this order, no head, 5,000 rows.
    "paypal": PayoutFormat(
        "PayPal Payouts",
        PayoutWay.PAYPAL,
        (
            "Recipient identifier",
            "Payment amount",
            "Currency",
            "Customer ID",
            "Note to recipient",
            "Recipient wallet",
        ),
        has_head=False,
        most_rows=5000,
        row=_paypal,
    ),
    # wise.com/help, "How do I fill in my batch template?": bank accounts in euros, 1,000 rows.
    "wise": PayoutFormat(
        "Wise batch payments",
        PayoutWay.IBAN,
        (
            "name",
            "recipientEmail",
            "paymentReference",
            "receiverType",
            "amountCurrency",
            "amount",
            "sourceCurrency",
            "targetCurrency",
            "IBAN",
        ),
        has_head=True,
        most_rows=1000,
        row=_wise,
    ),
    # help.tremendous.com names what a row says; the heads stand only in a file it hands out.
    "tremendous": PayoutFormat(
        "Tremendous, by mail",
        PayoutWay.GIFT,
        ("Recipient name", "Recipient email", "Amount", "Currency", "Order ID"),
        has_head=True,
        most_rows=1000,
        row=_tremendous,
    ),
    "tremendous-sms": PayoutFormat(
        "Tremendous, by SMS",
        PayoutWay.PHONE,
        ("Recipient name", "Recipient phone number", "Amount", "Currency", "Order ID"),
        has_head=True,
        most_rows=1000,
        row=_tremendous,
    ),
}


def lines_by(made: PayoutList, way: str) -> QuerySet[PayoutLine]:
    """Return what of a list is still to pay in this way ("" = to people who have chosen none)."""
    lines = made.lines.filter(OPEN).order_by("pk").select_related("worker__profile")
    if way:
        return lines.filter(worker__profile__payout_way=way)
    return lines.exclude(worker__profile__payout_way__in=PayoutWay.values)


def parts_of(made: PayoutList) -> list[tuple[str, str, int, int]]:
    """Return the files that a list comes to: name and title of the format, part, payments in it."""
    found = []
    for name, form in FORMATS.items():
        n_left, part = lines_by(made, form.way).count(), 1
        while n_left > 0:
            found.append((name, form.title, part, min(n_left, form.most_rows)))
            n_left, part = n_left - form.most_rows, part + 1
    return found


def payout_csv(made: PayoutList, name: str, part: int) -> str:
    """Return one part of a list as a service takes it, the first part being 1."""
    form, code = FORMATS[name], currency()
    start = (part - 1) * form.most_rows
    lines = lines_by(made, form.way)[start : start + form.most_rows]
    rows = [form.row(line, code) for line in lines]
    return csv_text([form.columns, *rows] if form.has_head else rows)
