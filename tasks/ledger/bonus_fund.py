"""Holds the money of bonuses before they can be earned, enters them, and frees what is left."""

from django.db.models import Exists, OuterRef, QuerySet

from collector.models import Stage
from collector.protocols.parameters import BonusesTable, Parameters, StageTable
from collector.protocols.stage_tables import AwardingTable
from tasks.ledger import budget
from tasks.ledger.bonus_rules import worst_cents
from tasks.models import (
    BonusFund,
    PostingState,
    ReceiptState,
    Submission,
    WorkerBlock,
)

OPEN = (PostingState.PUBLISHING, PostingState.LIVE)


def bonuses_of(table: StageTable) -> BonusesTable | None:
    """Return the bonuses that a stage's table promises, None for one that promises none."""
    if not isinstance(table, AwardingTable):
        return None
    return table.bonuses if table.bonuses.top_cents or table.bonuses.paces else None


def reserve_bonuses(
    stage: Stage, table: StageTable, parameters: Parameters, more_hits: int
) -> bool:
    """Hold what the bonuses can cost at most with `more_hits` beside those that stand open.

    Returns False, holding nothing more, when the budget does not suffice. Expects the lock of
    the stage's row.
    """
    bonuses = bonuses_of(table)
    if bonuses is None:
        return True
    fund, _ = BonusFund.objects.get_or_create(stage=stage)
    missing = _wanted(fund, table, bonuses, parameters, more_hits) - fund.held_cents
    if missing <= 0:
        return True
    if not budget.reserve(stage.collection_id, missing):
        return False
    fund.held_cents += missing
    fund.save(update_fields=["held_cents"])
    return True


def release_surplus(
    fund: BonusFund, table: StageTable, bonuses: BonusesTable, parameters: Parameters
) -> None:
    """Give back what nobody can earn any more; expects the lock of the stage's row."""
    surplus = fund.held_cents - _wanted(fund, table, bonuses, parameters, 0)
    if surplus <= 0:
        return
    budget.release(fund.stage.collection_id, surplus)
    fund.held_cents -= surplus
    fund.save(update_fields=["held_cents"])


def _wanted(
    fund: BonusFund,
    table: StageTable,
    bonuses: BonusesTable,
    parameters: Parameters,
    more_hits: int,
) -> int:
    """Return what was paid, and what the work that is out or not accepted yet can still earn."""
    open_work = undecided(fund.stage).exclude(state=ReceiptState.REJECTED)
    live = fund.stage.postings.filter(worker__isnull=True, state__in=OPEN).count()
    more = table.items_per_hit * (live + open_work.count() + more_hits)
    worst = worst_cents(
        fund.examples, fund.blocks, more, bonuses, lambda cents: cost_cents(cents, parameters)
    )
    return fund.paid_cents + worst


def undecided(stage: Stage) -> QuerySet[Submission]:
    """Return the stage's submissions that were not counted, but for those of excluded workers."""
    blocked = WorkerBlock.objects.filter(
        collection=stage.collection_id, worker=OuterRef("lease__worker")
    )
    rows = Submission.objects.filter(lease__unit__stage=stage, example_count__isnull=True)
    return rows.exclude(Exists(blocked))


def cost_cents(cents: int, parameters: Parameters) -> int:
    """Return what a bonus costs with the provider's fee; nothing costs nothing."""
    return cents + budget.fee_cents(cents, parameters.pay) if cents else 0


def most_cents(n_examples: int, table: StageTable, parameters: Parameters) -> int:
    """Return what the bonuses of so many examples cost at most, with fees."""
    bonuses = bonuses_of(table)
    if bonuses is None:
        return 0
    return worst_cents(0, 0, n_examples, bonuses, lambda cents: cost_cents(cents, parameters))
