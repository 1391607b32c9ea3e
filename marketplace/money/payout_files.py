"""Money as CSV: what is to pay as PayPal, Wise and Tremendous take it; a worker's statement."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from common.spreadsheet import csv_text
from marketplace.amounts import amount_of
from marketplace.configuration import currency
from marketplace.models import (
    Assignment,
    AssignmentState,
    BonusPayment,
    LedgerEntry,
    LedgerKind,
    Payout,
    PayoutLine,
    PayoutList,
    PayoutWay,
    Worker,
)
from marketplace.money.payouts import OPEN


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
    return (line.pay_to, amount, code, line.reference, "", "PAYPAL")


def _wise(line: PayoutLine, code: str) -> tuple[str, ...]:
    amount = amount_of(line.amount_cents)
    # "target": the recipient gets the amount, and fees are the sender's. An account with an IBAN
    # takes euros; of another currency the amount is sent, and what it comes to is the recipient's.
    fixed = "target" if code == "EUR" else "source"
    terms = ("PERSON", fixed, amount, code, "EUR")
    mail = line.worker.profile.mail or ""
    return (line.pay_name, mail, line.reference, *terms, line.pay_to)


def _tremendous(line: PayoutLine, code: str) -> tuple[str, ...]:
    amount = amount_of(line.amount_cents)
    return (line.pay_name, line.pay_to, amount, code, line.reference)


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


def n_without_way(made: PayoutList) -> int:
    """Return how much of a list is still to pay to people who have not said how."""
    return made.lines.filter(OPEN, pay_to="").count()


def parts_of(made: PayoutList) -> list[tuple[str, str, int, int]]:
    """Return the files that a list comes to: name and title of the format, part, payments in it."""
    return [
        (name, form.title, part, n)
        for name, form in FORMATS.items()
        for part in range(1, -(-_lines_by(made, form).count() // form.most_rows) + 1)
        if (n := len(_to_pay(made, form, part)))
    ]


def _lines_by(made: PayoutList, form: PayoutFormat) -> QuerySet[PayoutLine]:
    """Return the lines of a list that are paid this way, by when their workers chose it.

    So a line stays in its part, whatever is paid, taken off or added meanwhile.
    """
    lines = made.lines.filter(pay_by=form.way).select_related("worker__profile")
    return lines.order_by("handle_at", "pk")


def _to_pay(made: PayoutList, form: PayoutFormat, part: int) -> list[PayoutLine]:
    start = (part - 1) * form.most_rows
    lines = _lines_by(made, form)[start : start + form.most_rows]
    # Who has erased their account has no handle any more, and has waived what was owed.
    return [line for line in lines if line.is_open and line.pay_to]


def payout_csv(made: PayoutList, name: str, part: int) -> str:
    """Return one part of a list as a service takes it, the first part being 1."""
    form, code = FORMATS[name], currency()
    rows = [form.row(line, code) for line in _to_pay(made, form, part)]
    return csv_text([form.columns, *rows] if form.has_head else rows)


COLUMNS = ("date", "kind", "amount", "owed_after", "requester", "hit", "assignment", "note")


def statement_csv(worker: Worker) -> str:
    """Return the statement as CSV, oldest first: what waits for approval stands at the end.

    `owed_after` counts approved rewards and bonuses less payments; pending rewards never.
    """
    return csv_text([COLUMNS, *_rows(worker)])


def _rows(worker: Worker) -> Iterator[list[str]]:
    owed = 0
    for at, kind, cents, facts in sorted(_entries(worker), key=lambda entry: entry[0]):
        owed += -cents if kind == LedgerKind.PAYOUT else cents
        yield _row(at, kind, cents, amount_of(owed), facts)
    for one in (
        _assignments(worker).filter(state=AssignmentState.SUBMITTED).order_by("submitted_at")
    ):
        assert one.submitted_at is not None
        yield _row(one.submitted_at, "pending", one.reward_cents, "", _facts(one))


def _entries(worker: Worker) -> Iterator[tuple[datetime, str, int, tuple[str, ...]]]:
    """Yield time, kind, cents and facts of everything in the ledger."""
    rewarded = {
        str(one.pk): one for one in _assignments(worker).filter(state=AssignmentState.APPROVED)
    }
    bonuses = BonusPayment.objects.filter(worker=worker).select_related(
        "assignment__hit__hit_type__requester"
    )
    given = {str(one.pk): one for one in bonuses}
    paid = {str(one.pk): one for one in Payout.objects.filter(worker=worker)}
    for entry in LedgerEntry.objects.filter(worker=worker):
        cause = entry.key.partition(":")[2]
        facts: tuple[str, ...] = ("", "", "", "")
        if entry.kind == LedgerKind.REWARD and cause in rewarded:
            facts = _facts(rewarded[cause])
        elif entry.kind == LedgerKind.BONUS and cause in given:
            facts = (*_facts(given[cause].assignment)[:3], given[cause].reason)
        elif entry.kind == LedgerKind.PAYOUT and cause in paid:
            payout = paid[cause]
            facts = ("", "", "", f"{payout.paid_on} {payout.method} {payout.reference}")
        yield entry.at, str(entry.kind), entry.amount_cents, facts


def _assignments(worker: Worker) -> QuerySet[Assignment]:
    mine = Q(worker=worker) | Q(worker__merged_into=worker)
    return Assignment.objects.filter(mine).select_related("hit__hit_type__requester")


def _facts(assignment: Assignment) -> tuple[str, ...]:
    kind = assignment.hit.hit_type
    return (kind.requester.name, kind.title, assignment.assignment_id, "")


def _row(at: datetime, kind: str, cents: int, owed_after: str, facts: tuple[str, ...]) -> list[str]:
    when = f"{at:%Y-%m-%d %H:%M:%S}Z"
    return [when, kind, amount_of(cents), owed_after, *facts]
