"""What each stage paid, and what that makes by the hour."""

from dataclasses import dataclass, replace
from statistics import median

from django.db.models import Avg, Count, Q, QuerySet, Sum

from annotation.tables.table import Cell, Table
from collector.models import Collection, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters
from tasks.models import Payment, PaymentKind, PaymentState, ReceiptState, Submission
from tasks.pages.wording import price

RATES = ("stage", "assignments", "simulated", "reward", "bonus", "median minutes", "hourly rate")
COLUMNS = (*RATES, "approved", "pending")
# A shorter median is the time of a form handed in at once, not of work: no rate follows from it.
SHORTEST_SECONDS = 30


@dataclass(frozen=True)
class StagePay:
    """One stage's pay. Times are those of people alone.

    `reward_cents`: the mean of what was not rejected. `bonus_cents`: the mean over all assignments.
    `hourly_cents`: the mean reward and bonus of all assignments, `unpaid` of which have no reward,
    over the median time. It and the median are None while no person has handed in, and where the
    median is too short to be the time of work (`too_short`).
    """

    stage: str
    assignments: int
    simulated: int
    unpaid: int
    reward_cents: int
    bonus_cents: int
    median_seconds: float | None
    hourly_cents: float | None
    too_short: bool
    approved_cents: int
    pending_cents: int
    refused_cents: int
    fee_cents: int


def pay_of(collection: Collection) -> list[StagePay]:
    """Return the pay of every stage, in their order; raises ProtocolError."""
    tables = parameters_of(collection).stages()
    return [_stage(stage, tables[stage.name].reward_cents) for stage in collection.stages.all()]


def pay_table(collection: Collection) -> Table:
    """Return the pay per stage, with a warning for every stage under the requester's floor."""
    parameters, found = parameters_of(collection), pay_of(collection)
    rates = _rates_table(found, parameters)
    rows: list[list[Cell]] = [
        [*cells, price(row.approved_cents, parameters), price(row.pending_cents, parameters)]
        for cells, row in zip(rates.rows, found, strict=True)
    ]
    totals = [
        price(sum(row.approved_cents for row in found), parameters),
        price(sum(row.pending_cents for row in found), parameters),
    ]
    counts = [sum(row.assignments for row in found), sum(row.simulated for row in found)]
    rows.append(["total", *counts, *[None] * (len(RATES) - 3), *totals])
    note = rates.note
    if fees := sum(row.fee_cents for row in found):
        note += f" Fees come on top: {price(fees, parameters)}."
    if refused := sum(row.refused_cents for row in found):
        note += (
            f" Bonuses refused by the marketplace: {price(refused, parameters)}; see the page "
            "Money."
        )
    return replace(rates, columns=COLUMNS, rows=rows, note=note)


def bonus_tables(collection: Collection) -> list[Table]:
    """Return the bonuses per stage in one table; none where no stage has paid any."""
    paid = Payment.objects.filter(
        collection=collection, kind=PaymentKind.BONUS, stage__isnull=False
    ).exclude(state=PaymentState.WITHHELD)
    of_stage = (
        paid.values("stage__name")
        .annotate(
            n=Count("pk"),
            people=Count("worker", distinct=True),
            cents=Sum("amount_cents"),
            simulated=Count("worker", distinct=True, filter=Q(worker__synthetic=True)),
        )
        .order_by("stage__position")
    )
    parameters = parameters_of(collection)
    simulated = sum(row["simulated"] for row in of_stage)
    head = f"With simulated work: that of {simulated:,} workers." if simulated else ""
    rows: list[list[Cell]] = [
        [
            row["stage__name"],
            row["n"],
            row["people"],
            price(row["cents"], parameters),
            price(round(row["cents"] / row["people"]), parameters),
        ]
        for row in of_stage
    ]
    columns = ["stage", "bonuses", "workers", "all", "per worker"]
    table = Table("bonuses", "Bonuses per stage", columns, rows, simulated=head)
    return [table] if rows else []


def rates_table(collection: Collection) -> Table:
    """Return what the stages paid, without what is still to be approved or to be charged.

    A release never changes, and the ledger does.
    """
    return _rates_table(pay_of(collection), parameters_of(collection))


def _rates_table(found: list[StagePay], parameters: Parameters) -> Table:
    floor = parameters.pay.floor_cents_per_hour
    rows: list[list[Cell]] = [
        [
            row.stage,
            row.assignments,
            row.simulated,
            price(row.reward_cents, parameters),
            price(row.bonus_cents, parameters) if row.bonus_cents else None,
            None if row.median_seconds is None else row.median_seconds / 60,
            None if row.hourly_cents is None else price(round(row.hourly_cents), parameters),
        ]
        for row in found
    ]
    notes = ["Hourly rate: the mean reward and bonus over the median active time of people."]
    if any(row.unpaid for row in found):
        notes.append("Rejected assignments count in it with their time and without a reward.")
    low = [row.stage for row in found if row.hourly_cents is not None and row.hourly_cents < floor]
    if low:
        notes.append(
            f"Under the floor of {price(floor, parameters)} an hour: {', '.join(low)}. "
            "Raise the reward of later HITs and pay a bonus for the earlier ones."
        )
    simulated, whole = sum(row.simulated for row in found), sum(row.assignments for row in found)
    head = f"With simulated work: {simulated:,} of {whole:,} assignments." if simulated else ""
    if simulated:
        notes.append("Times of simulated workers say nothing about people and are left out.")
    if short := [row.stage for row in found if row.too_short]:
        notes.append(
            f"No rate where the median is under {SHORTEST_SECONDS} seconds, too short to be the "
            f"time of work: {', '.join(short)}."
        )
    return Table("pay", "Pay per stage", RATES, rows, " ".join(notes), simulated=head)


def _stage(stage: Stage, reward_cents: int) -> StagePay:
    handed_in = Submission.objects.filter(lease__unit__stage=stage)
    simulated = handed_in.filter(synthetic=True).count()
    people = handed_in.filter(synthetic=False, active_seconds__gt=0)
    seconds = list(people.values_list("active_seconds", flat=True))
    ledger = Payment.objects.filter(stage=stage)
    paid = ledger.exclude(state=PaymentState.WITHHELD)
    # As the log of the work tells it, so that a release that is made again says the same.
    rejected = Q(submission__state=ReceiptState.REJECTED)
    rewards = ledger.filter(kind=PaymentKind.REWARD).aggregate(
        mean=Avg("amount_cents", filter=~rejected),
        # What was submitted empty took no time that is known.
        n=Count("submission"),
        unpaid=Count("pk", filter=rejected),
    )
    share_paid = 1 - rewards["unpaid"] / max(1, rewards["n"])
    middle = median(seconds) if seconds else None
    too_short = middle is not None and middle < SHORTEST_SECONDS
    if too_short:
        middle = None
    reward = reward_cents if rewards["mean"] is None else rewards["mean"]
    n_assignments = handed_in.count()
    bonuses = paid.filter(kind=PaymentKind.BONUS, lease__submission__isnull=False)
    bonus = _total(bonuses, "amount_cents") / max(1, n_assignments)
    return StagePay(
        stage=stage.name,
        assignments=n_assignments,
        simulated=simulated,
        unpaid=rewards["unpaid"],
        reward_cents=round(reward),
        bonus_cents=round(bonus),
        median_seconds=middle,
        hourly_cents=(reward * share_paid + bonus) * 3600 / middle if middle else None,
        too_short=too_short,
        approved_cents=_total(ledger.filter(state=PaymentState.CONFIRMED), "amount_cents"),
        pending_cents=_total(ledger.filter(state=PaymentState.DUE), "amount_cents"),
        refused_cents=_total(ledger.filter(state=PaymentState.REFUSED), "amount_cents"),
        fee_cents=_total(paid, "fee_cents"),
    )


def _total(ledger: "QuerySet[Payment]", field: str) -> int:
    return ledger.aggregate(total=Sum(field))["total"] or 0
