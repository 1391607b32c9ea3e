"""Payouts: where workers want their money, lists of what is owed, payments confirmed, reports.

And money as CSV: what is to pay as PayPal, Wise and Tremendous take it, and a worker's statement.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from common.spreadsheet import csv_text, read_table
from marketplace import funds
from marketplace.amounts import amount_of, price_of, typed_cents
from marketplace.configuration import currency, currency_symbol
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    Assignment,
    AssignmentState,
    BonusPayment,
    LedgerEntry,
    LedgerKind,
    PaymentReport,
    Payout,
    PayoutLine,
    PayoutList,
    PayoutWay,
    Worker,
    WorkerProfile,
)
from marketplace.notifications.messages import notify_of_payment
from marketplace.people.worker_import import MAIL
from marketplace.router import atomic

LONGEST_REPORT = 2000


class PayoutError(ValueError):
    """The payment cannot be recorded; the message says why."""


def record_payout(
    worker_id: str, cents: int, paid_on: date, method: str, reference: str, now: datetime
) -> Payout:
    """Return the record of one payment; the same reference again is the same payment.

    What the clock has approved by now is owed too. Raises PayoutError for an unknown worker, a sum
    that is not owed, or a reference that was used for another payment.
    """
    settle_due(now, assignments__worker__worker_id=worker_id)
    with atomic():
        worker = Worker.objects.select_for_update().filter(worker_id=worker_id).first()
        if worker is None:
            raise PayoutError(f"There is no worker {worker_id!r}.")
        if worker.is_simulated:
            raise PayoutError(f"{worker_id} is simulated: no person is owed anything for its work.")
        found = Payout.objects.filter(reference=reference).first()
        if found is not None:
            if (found.worker_id, found.amount_cents) != (worker.pk, cents):
                raise PayoutError(f"The reference {reference} belongs to another payment.")
            return found
        owed = funds.owed_cents(worker)
        if not 0 < cents <= owed:
            raise PayoutError(
                f"{worker_id} is owed {price_of(owed)}; record more than nothing, and no more."
            )
        payout = Payout.objects.create(
            worker=worker,
            amount_cents=cents,
            paid_on=paid_on,
            method=method,
            reference=reference,
            recorded_at=now,
        )
        LedgerEntry.objects.create(
            key=f"{LedgerKind.PAYOUT}:{payout.pk}",
            kind=LedgerKind.PAYOUT,
            worker=worker,
            amount_cents=cents,
            at=now,
        )
        notify_of_payment(payout)
        return payout


def report_payment(worker: Worker, text: str, now: datetime) -> PaymentReport:
    """Return the worker's word that a payment is missing or wrong, for the host's desk.

    Raises PayoutError when it is empty or too long, or while an earlier one waits for an answer.
    """
    text = text.replace("\x00", "").strip()
    if not 1 <= len(text) <= LONGEST_REPORT:
        raise PayoutError(
            _("Say in 1 to %(most)s characters what is missing.") % {"most": LONGEST_REPORT}
        )
    with atomic():
        worker = Worker.objects.select_for_update().get(pk=worker.pk)
        if worker.payment_reports.filter(answered_at=None).exists():
            raise PayoutError(_("You have reported a payment already; the answer comes first."))
        owed = funds.owed_cents(worker)
        return PaymentReport.objects.create(
            worker=worker, text=text, owed_cents=owed, reported_at=now
        )


def answer_report(report: PaymentReport, answer: str, now: datetime) -> None:
    """Answer a report; the worker reads it beside their earnings. The first answer stays.

    Raises PayoutError when the answer is empty or the report was answered before.
    """
    answer = answer.strip()
    if not 1 <= len(answer) <= LONGEST_REPORT:
        raise PayoutError(f"Answer the worker in 1 to {LONGEST_REPORT} characters.")
    rows = PaymentReport.objects.filter(pk=report.pk, answered_at=None)
    if not rows.update(answer=answer, answered_at=now):
        raise PayoutError("This report was answered before.")


COLUMNS = (
    "reference",
    "worker_id",
    "name",
    "mail",
    "amount",
    "currency",
    "paid_on",
    "method",
    "pay_by",
    "pay_to",
    "pay_name",
)
TOTALS = ("year", "worker_id", "name", "mail", "payments", "amount", "currency")
OPEN = Q(payout=None, dropped_at=None)


@dataclass
class ConfirmationReport:
    """What a file of confirmations brought about, and what is to mend, by row."""

    n_new: int = 0
    n_before: int = 0
    n_blank: int = 0
    cents: int = 0
    problems: list[tuple[int, str]] = field(default_factory=list)


def owed_by_worker() -> dict[int, int]:
    """Return integer cents owed and on no open list, by worker's key; only what is above nothing.

    Workers who erased their account have waived it, and simulated workers are owed nothing.
    Three queries, however many there are.
    """
    earned = LedgerEntry.objects.filter(
        kind__in=[LedgerKind.REWARD, LedgerKind.BONUS],
        worker__isnull=False,
        worker__erased_at=None,
        worker__is_simulated=False,
    )
    owed = dict(earned.values_list("worker").annotate(Sum("amount_cents")))
    for rows in (Payout.objects.all(), PayoutLine.objects.filter(OPEN)):
        for worker, cents in rows.values_list("worker").annotate(Sum("amount_cents")):
            owed[worker] = owed.get(worker, 0) - cents
    return {worker: cents for worker, cents in owed.items() if cents > 0}


def make_list(by: str, now: datetime, least_cents: int = 1) -> PayoutList | None:
    """Return a new list of what is owed to workers who stand on no open list, None if nobody does.

    Made twice it lists nothing twice: a line stays the worker's until it is paid or taken off.
    What the clock has approved by now is owed too; expects no transaction.
    """
    settle_due(now)
    with atomic():
        # The workers' locks keep a payment recorded meanwhile from being listed again.
        keys = list(owed_by_worker())
        workers = Worker.objects.select_for_update().order_by("pk").in_bulk(keys)
        busy = set(PayoutLine.objects.filter(OPEN).values_list("worker", flat=True))
        owed = {
            worker: cents
            for worker, cents in owed_by_worker().items()
            if worker in workers and worker not in busy and cents >= least_cents
        }
        if not owed:
            return None
        made = PayoutList.objects.create(made_at=now, made_by=by)
        handles = handles_of(owed)
        PayoutLine.objects.bulk_create(
            PayoutLine(
                payout_list=made,
                worker=workers[key],
                reference=f"{made.pk}-{workers[key].worker_id}",
                amount_cents=cents,
                **({"handle_at": now, **handles[key]} if key in handles else {}),
            )
            for key, cents in sorted(owed.items())
        )
    return made


def handles_of(workers: Iterable[int]) -> dict[int, dict[str, str]]:
    """Return how these workers have said that they want to be paid, as lines keep it."""
    said = WorkerProfile.objects.filter(worker__in=workers).exclude(payout_way="")
    names = ("worker", "payout_way", "payout_to", "payout_name")
    return {
        key: {"pay_by": way, "pay_to": to, "pay_name": name}
        for key, way, to, name in said.values_list(*names)
    }


def rows_of(made: PayoutList, currency: str) -> list[list[str]]:
    """Return the lines of a list under COLUMNS, paid ones filled in; the same on every download."""
    lines = made.lines.filter(dropped_at=None).select_related("worker__profile", "payout")
    return [_row(line, currency) for line in lines.order_by("pk")]


def _row(line: PayoutLine, currency: str) -> list[str]:
    profile = getattr(line.worker, "profile", None)
    paid = line.payout
    return [
        line.reference,
        line.worker.worker_id,
        line.worker.display_name,
        (profile.mail if profile else "") or "",
        amount_of(line.amount_cents),
        currency,
        paid.paid_on.isoformat() if paid else "",
        paid.method if paid else "",
        line.get_pay_by_display(),
        line.pay_to,
        line.pay_name,
    ]


def confirm(text: str, method: str, now: datetime) -> ConfirmationReport:
    """Record the payments of a file that came back; rows without `paid_on` are not paid yet.

    The same file again records nothing more. Raises UploadError when it cannot be read.
    """
    table = read_table(text, required=("reference", "paid_on"), is_ours=True)
    found = ConfirmationReport()
    for row, cells in table.lines:
        try:
            _confirm_row(cells, method, now, found)
        except PayoutError as error:
            found.problems.append((row, str(error)))
    return found


def _confirm_row(
    cells: dict[str, str], method: str, now: datetime, found: ConfirmationReport
) -> None:
    reference, given_day = cells["reference"].strip(), cells["paid_on"].strip()
    if not given_day:
        found.n_blank += 1
        return
    try:
        if match := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", given_day):
            day = date(int(match[3]), int(match[2]), int(match[1]))
        else:
            day = date.fromisoformat(given_day)
    except ValueError:
        raise PayoutError(f"Write the day “{given_day}” as 2026-11-20.") from None
    if day > now.date():
        raise PayoutError(f"{given_day} is in the future. Confirm a payment once it was made.")
    paid_on = day
    method = (cells.get("method", "").strip() or method.strip())[:80]
    if not method:
        raise PayoutError("Say how it was paid: fill the column method, or the field above.")
    with atomic():
        line = (
            PayoutLine.objects.select_for_update(of=("self",))
            .select_related("worker")
            .filter(reference=reference)
            .first()
        )
        if line is None:
            raise PayoutError(f"There is no payment {reference} on any list.")
        _check_amount(line, cells.get("amount", ""))
        if line.payout_id:
            found.n_before += 1
            return
        if line.dropped_at:
            raise PayoutError(f"{reference} was taken off its list, so it cannot be confirmed.")
        line.payout = record_payout(
            line.worker.worker_id, line.amount_cents, paid_on, method, reference, now
        )
        line.save(update_fields=["payout"])
    found.n_new += 1
    found.cents += line.amount_cents


def _check_amount(line: PayoutLine, given: str) -> None:
    if not given.strip():
        return
    try:
        cents = typed_cents(given)
    except ValueError:
        raise PayoutError(f"Write the amount “{given.strip()[:40]}” as 1234.50.") from None
    if cents != line.amount_cents:
        raise PayoutError(
            f"{line.reference} was to be {price_of(line.amount_cents)}, not {given.strip()}. "
            "Take the line off the list and record what was really paid."
        )


def totals() -> list[list[str]]:
    """Return what each person was paid in each year, the latest year first, under TOTALS."""
    rows = (
        Payout.objects.values("paid_on__year", "worker")
        .annotate(n=Count("pk"), cents=Sum("amount_cents"))
        .order_by("-paid_on__year", "worker")
    )
    workers = Worker.objects.select_related("profile").in_bulk({row["worker"] for row in rows})
    found = []
    for row in rows:
        worker = workers[row["worker"]]
        profile = getattr(worker, "profile", None)
        found.append(
            [
                str(row["paid_on__year"]),
                worker.worker_id,
                (profile.payout_name if profile else "") or worker.display_name,
                (profile.mail if profile else "") or "",
                str(row["n"]),
                amount_of(row["cents"]),
                currency() or currency_symbol(),
            ]
        )
    return found


def remove_line(line: PayoutLine, now: datetime) -> bool:
    """Take an unpaid line off its list; what it stood for is owed again. False if it was paid."""
    rows = PayoutLine.objects.filter(OPEN, pk=line.pk)
    return bool(rows.update(dropped_at=now))


LONGEST_NAME = 80
IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)
# E.164: a country's number and the rest, fifteen digits at most.
PHONE = re.compile(r"\+[1-9]\d{6,14}", re.ASCII)


def choose_way(worker: Worker, way: str, handle: str, name: str, now: datetime) -> bool:
    """Keep how the worker is to be paid; an empty way takes it back.

    Returns whether a payment on a list still goes where they said before, as the host may have the
    file already; one for which they had said nothing goes where they say now. Raises PayoutError
    with a sentence on what to mend.
    """
    if way and way not in PayoutWay.values:
        raise PayoutError(_("Choose one of the ways."))
    name = " ".join(name.replace("\x00", "").split())
    if len(name) > LONGEST_NAME:
        raise PayoutError(
            _("The name is longer than %(most)s characters.") % {"most": LONGEST_NAME}
        )
    if way and not name:
        raise PayoutError(_("Write your name as your bank or PayPal has it."))
    kept = {
        "payout_way": way,
        "payout_to": _checked(way, handle) if way else "",
        "payout_name": name if way else "",
    }
    with atomic():
        # A list that is made meanwhile has either all of it or nothing.
        Worker.objects.select_for_update().get(pk=worker.pk)
        WorkerProfile.objects.update_or_create(worker=worker, defaults=kept)
        lines = PayoutLine.objects.filter(OPEN, worker=worker)
        said = {"pay_by": way, "pay_to": kept["payout_to"], "pay_name": kept["payout_name"]}
        if way:
            lines.filter(handle_at=None).update(handle_at=now, **said)
        return lines.filter(handle_at__isnull=False).exclude(**said).exists()


def _checked(way: str, handle: str) -> str:
    """Return what was typed as files have it; raises PayoutError for what cannot be right."""
    if way == PayoutWay.IBAN:
        iban = re.sub(r"\s", "", handle).upper()
        if IBAN.fullmatch(iban) is None or not _check_digits_fit(iban):
            raise PayoutError(
                _("This is no IBAN: a letter or digit is wrong or missing. Copy it from your bank.")
            )
        return iban
    if way == PayoutWay.PHONE:
        phone = re.sub(r"[\s()/.-]", "", handle)
        if PHONE.fullmatch(phone) is None:
            raise PayoutError(_("Write the phone number with its country, like +49 170 1234567."))
        return phone
    mail = handle.strip().lower()
    if MAIL.fullmatch(mail) is None or len(mail) > 254:
        raise PayoutError(_("Write a whole mail address, like ada@example.org."))
    return mail


def _check_digits_fit(iban: str) -> bool:
    """Return whether an IBAN's two check digits are those of the rest (ISO 13616, ISO 7064)."""
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


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


STATEMENT_COLUMNS = (
    "date",
    "kind",
    "amount",
    "owed_after",
    "requester",
    "hit",
    "assignment",
    "note",
)


def statement_csv(worker: Worker) -> str:
    """Return the statement as CSV, oldest first: what waits for approval stands at the end.

    `owed_after` counts approved rewards and bonuses less payments; pending rewards never.
    """
    return csv_text([STATEMENT_COLUMNS, *_statement_rows(worker)])


def _statement_rows(worker: Worker) -> Iterator[list[str]]:
    owed = 0
    for at, kind, cents, facts in sorted(_entries(worker), key=lambda entry: entry[0]):
        owed += -cents if kind == LedgerKind.PAYOUT else cents
        yield _statement_row(at, kind, cents, amount_of(owed), facts)
    for one in (
        _assignments(worker).filter(state=AssignmentState.SUBMITTED).order_by("submitted_at")
    ):
        assert one.submitted_at is not None
        yield _statement_row(one.submitted_at, "pending", one.reward_cents, "", _facts(one))


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


def _statement_row(
    at: datetime, kind: str, cents: int, owed_after: str, facts: tuple[str, ...]
) -> list[str]:
    when = f"{at:%Y-%m-%d %H:%M:%S}Z"
    return [when, kind, amount_of(cents), owed_after, *facts]
