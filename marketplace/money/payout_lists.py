"""Lists of what is owed, for the host to pay outside, and the confirmations that come back."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime

from django.db import transaction
from django.db.models import Count, Q, Sum

from common.spreadsheet import read_table
from marketplace.configuration import currency, currency_symbol
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    LedgerEntry,
    LedgerKind,
    Payout,
    PayoutLine,
    PayoutList,
    Worker,
    WorkerProfile,
)
from marketplace.money.amounts import amount_of, price_of, typed_cents
from marketplace.money.payments_made import PayoutError, record_payout
from marketplace.router import DATABASE

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

    Whoever erased their account has waived what was owed, and simulated workers are owed nothing.
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
    with transaction.atomic(using=DATABASE):
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
    paid_on = _day(given_day, now)
    method = (cells.get("method", "").strip() or method.strip())[:80]
    if not method:
        raise PayoutError("Say how it was paid: fill the column method, or the field above.")
    with transaction.atomic(using=DATABASE):
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


def _day(given: str, now: datetime) -> date:
    try:
        if match := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", given):
            day = date(int(match[3]), int(match[2]), int(match[1]))
        else:
            day = date.fromisoformat(given)
    except ValueError:
        raise PayoutError(f"Write the day “{given}” as 2026-11-20.") from None
    if day > now.date():
        raise PayoutError(f"{given} is in the future. Confirm a payment once it was made.")
    return day


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
