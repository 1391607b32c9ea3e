"""Reserves, counts, owes and shows bonuses for much and for quick work (HotpotQA A.2)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum

from collector.models import Seed, Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import FOLDS, BonusesTable, Parameters, StageTable
from collector.protocols.stage_tables import AwardingTable
from tasks.ledger import budget
from tasks.models import (
    BonusFund,
    ExampleCount,
    Identity,
    Lease,
    Payment,
    PaymentKind,
    PostingState,
    ReceiptState,
    Submission,
    Worker,
    WorkerBlock,
)

SECONDS_PER_HOUR = 3600
OPEN = (PostingState.PUBLISHING, PostingState.LIVE)
# (worker, examples, seconds) of each submission, in order.
Waiting = Sequence[tuple[str, int, float]]


@dataclass(frozen=True)
class Stretch:
    """Consecutive accepted examples of one worker, and the seconds that they took in total.

    `start` is the number of examples before them: of all workers in a round, of the same worker in
    a block.
    """

    worker: str
    start: int
    examples: int
    seconds: float

    def within(self, first: int, last: int) -> "Stretch":
        """Return the part from example `first` to before `last`, with its share of the time."""
        start = max(self.start, first)
        examples = max(0, min(self.start + self.examples, last) - start)
        share = examples / self.examples if self.examples else 0.0
        return Stretch(self.worker, start, examples, self.seconds * share)


def as_stretches(written: Iterable[tuple[str, int, float]], start: int = 0) -> list[Stretch]:
    """Return (worker, examples, seconds) as stretches, one after the other from `start`."""
    found = []
    for worker, examples, seconds in written:
        found.append(Stretch(worker, start, examples, seconds))
        start += examples
    return found


def ranking(stretches: Iterable[Stretch]) -> list[tuple[str, int]]:
    """Return (worker, examples), most examples first; of equals, the one who reached them first."""
    counts: dict[str, int] = {}
    reached: dict[str, int] = {}
    for stretch in sorted(stretches, key=lambda one: one.start):
        if stretch.examples:
            counts[stretch.worker] = counts.get(stretch.worker, 0) + stretch.examples
            reached[stretch.worker] = stretch.start + stretch.examples
    return sorted(counts.items(), key=lambda one: (-one[1], reached[one[0]]))


def pace(stretches: Sequence[Stretch]) -> float:
    """Return the examples per hour of work; 0 without examples or without measured time."""
    seconds = sum(stretch.seconds for stretch in stretches)
    examples = sum(stretch.examples for stretch in stretches)
    return examples * SECONDS_PER_HOUR / seconds if seconds > 0 else 0.0


def pace_cents(per_hour: float, table: BonusesTable) -> int:
    """Return the cents that a block at this pace earns: the most of the paces that it reaches."""
    reached = [one.cents for one in table.paces if per_hour >= one.examples_per_hour]
    return max(reached, default=0)


def rounds_ended(start: int, examples: int, size: int) -> range:
    """Return the numbers, from 0, of the rounds or blocks of `size` that these examples end."""
    return range(start // size, (start + examples) // size)


def worst_cents(
    n_examples: int, n_blocks: int, more: int, table: BonusesTable, cost: Callable[[int], int]
) -> int:
    """Return the most cents that `more` examples can make due, after `n_examples` and `n_blocks`.

    n_blocks: the blocks that were paid. cost: returns an amount with its fee. Blocks, of any
    worker, share no examples, and each new block ends with a new example.
    """
    every = table.top_every_examples
    rounds = (n_examples + more) // every - n_examples // every
    blocks = min(more, max(0, (n_examples + more) // table.block_examples - n_blocks))
    best = max((one.cents for one in table.paces), default=0)
    return rounds * sum(cost(cents) for cents in table.top_cents) + blocks * cost(best)


def bonuses_of(table: StageTable) -> BonusesTable | None:
    """Return the bonuses that a stage's table promises; None if it promises none."""
    if not isinstance(table, AwardingTable):
        return None
    return table.bonuses if table.bonuses.top_cents or table.bonuses.paces else None


def reserve_bonuses(
    stage: Stage, table: StageTable, parameters: Parameters, more_hits: int
) -> bool:
    """Reserve the most that the bonuses can cost with the open HITs and `more_hits`.

    Returns False, and reserves nothing more, if the budget does not suffice. Expects the lock of
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
    """Release what nobody can earn any more; expects the lock of the stage's row."""
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
    """Return the cents that were paid, plus the most that open and undecided work can earn."""
    open_work = undecided(fund.stage).exclude(state=ReceiptState.REJECTED)
    live = fund.stage.postings.filter(worker__isnull=True, state__in=OPEN).count()
    more = table.items_per_hit * (live + open_work.count() + more_hits)
    worst = worst_cents(
        fund.examples, fund.blocks, more, bonuses, lambda cents: cost_cents(cents, parameters)
    )
    return fund.paid_cents + worst


def undecided(stage: Stage) -> QuerySet[Submission]:
    """Return the stage's submissions that are not counted yet, without excluded workers'."""
    blocked = WorkerBlock.objects.filter(
        collection=stage.collection_id, worker=OuterRef("lease__worker")
    )
    rows = Submission.objects.filter(lease__unit__stage=stage, example_count__isnull=True)
    return rows.exclude(Exists(blocked))


def cost_cents(cents: int, parameters: Parameters) -> int:
    """Return the cost of a bonus with the provider's fee; 0 for 0 cents."""
    return cents + budget.fee_cents(cents, parameters.pay) if cents else 0


def most_cents(n_examples: int, table: StageTable, parameters: Parameters) -> int:
    """Return the most that the bonuses of this many examples can cost, with fees."""
    bonuses = bonuses_of(table)
    if bonuses is None:
        return 0
    return worst_cents(0, 0, n_examples, bonuses, lambda cents: cost_cents(cents, parameters))


def award_bonuses(stage: Stage, now: datetime) -> int:
    """Count the stage's newly approved submissions, and return the number of new bonuses due.

    An example is accepted if it was approved, and was not dropped before its waiting hours were
    over (HotpotQA A.2). An example that is dropped later stays counted. It is safe to run this
    twice or in parallel: a submission is counted once, and a bonus has one key. Locks the stage.
    """
    parameters = parameters_of(stage.collection)
    table = parameters.stages()[stage.name]
    bonuses = bonuses_of(table)
    if bonuses is None:
        return 0
    with transaction.atomic():
        locked = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
        fund, _ = BonusFund.objects.get_or_create(stage=locked)
        round_of = ExampleCounter(fund, bonuses, parameters, now)
        ripe = now - timedelta(hours=bonuses.wait_hours)
        for submission in uncounted(stage).filter(received_at__lte=ripe):
            round_of.count(submission)
        release_surplus(fund, table, bonuses, parameters)
    return round_of.n_due


def uncounted(stage: Stage) -> QuerySet[Any]:
    """Return the approved submissions that are not counted yet, with their `examples`.

    Submissions of an excluded worker wait: their questions are dropped until the exclusion is taken
    back.
    """
    return (
        undecided(stage)
        .filter(state=ReceiptState.APPROVED)
        .select_related("lease__session")
        .annotate(examples=Count("questions", filter=~Q(questions__verdict__outcome="dropped")))
        .order_by("received_at", "id")
    )


def waits_to_count(stage: Stage, worker: Worker) -> bool:
    """Return whether approved work of the worker is not counted yet for the stage's bonuses."""
    table = parameters_of(stage.collection).stages()[stage.name]
    waiting = uncounted(stage).filter(lease__worker=worker)
    return bonuses_of(table) is not None and waiting.exists()


def ranked_for_prizes(stretches: Iterable[Stretch]) -> list[tuple[str, int]]:
    """Return (worker, examples), the best first, without workers whose identity was deleted.

    Nothing can be sent to such workers, so the next worker takes their place.
    """
    ranked = ranking(stretches)
    workers = Identity.objects.filter(worker__in=[worker for worker, _ in ranked])
    known = set(workers.values_list("worker_id", flat=True))
    return [(worker, examples) for worker, examples in ranked if worker in known]


class ExampleCounter:
    """Counts new submissions of a stage in one pass; expects the lock of the stage's row."""

    def __init__(
        self, fund: BonusFund, bonuses: BonusesTable, parameters: Parameters, now: datetime
    ) -> None:
        self.fund, self.bonuses, self.parameters, self.now = fund, bonuses, parameters, now
        self.n_due = 0

    def count(self, submission: Submission) -> None:
        """Add one submission to the rounds and to its worker's blocks."""
        stage, worker = self.fund.stage, submission.lease.worker_id
        examples: int = submission.examples  # type: ignore[attr-defined]
        own = ExampleCount.objects.filter(stage=stage, worker=worker).aggregate(
            own=Sum("examples", default=0)
        )["own"]
        ExampleCount.objects.create(
            submission=submission,
            stage=stage,
            worker_id=worker,
            examples=examples,
            seconds=submission.active_seconds,
            before=self.fund.examples,
            own_before=own,
        )
        for number in rounds_ended(self.fund.examples, examples, self.bonuses.top_every_examples):
            self._end_round(number)
        for number in rounds_ended(own, examples, self.bonuses.block_examples):
            self._end_block(number, submission.lease)
        self.fund.examples += examples
        self.fund.save(update_fields=["examples", "blocks", "paid_cents"])

    def _end_round(self, number: int) -> None:
        every = self.bonuses.top_every_examples
        first, last = number * every, (number + 1) * every
        ranked = ranked_for_prizes(stretches_of_round(self.fund.stage, first, last))
        for place, (worker, examples) in enumerate(ranked[: len(self.bonuses.top_cents)]):
            lease = (
                Lease.objects.filter(
                    submission__example_count__stage=self.fund.stage,
                    submission__example_count__worker=worker,
                    submission__example_count__before__lt=last,
                )
                .select_related("session")
                .latest("submission__example_count")
            )
            reason = f"Place {place + 1} of round {number + 1}: {examples} of {every} questions."
            key = f"top:{self.fund.stage_id}:{number}:{place}"
            self._owe(lease, key, self.bonuses.top_cents[place], reason)

    def _end_block(self, number: int, lease: Lease) -> None:
        size = self.bonuses.block_examples
        per_hour = pace(
            stretches_of_block(self.fund.stage, lease.worker_id, number * size, (number + 1) * size)
        )
        self.fund.blocks += 1
        reason = f"{per_hour:.1f} questions an hour in your questions up to {(number + 1) * size}."
        key = f"pace:{self.fund.stage_id}:{lease.worker_id}:{number}"
        self._owe(lease, key, pace_cents(per_hour, self.bonuses), reason)

    def _owe(self, lease: Lease, key: str, cents: int, reason: str) -> None:
        if not cents or Payment.objects.filter(key=key).exists():
            return
        enter_bonus(lease, key, cents, reason, "", self.now)
        cost = cost_cents(cents, self.parameters)
        missing = cost - (self.fund.held_cents - self.fund.paid_cents)
        if missing > 0:
            # A bonus for accepted work is owed even if less was reserved, as for work that was
            # rejected or excluded in between.
            budget.hold_anyway(self.fund.stage.collection_id, missing, "bonuses", self.now)
            self.fund.held_cents += missing
        self.fund.paid_cents += cost
        budget.earn(self.fund.stage.collection_id, reserved_cents=cost, cost_cents=cost)
        self.fund.save(update_fields=["held_cents", "paid_cents"])
        self.n_due += 1


def stretches_of_round(stage: Stage, first: int, last: int) -> list[Stretch]:
    """Return the stage's accepted examples from `first` to before `last`, in order."""
    rows = ExampleCount.objects.filter(
        stage=stage, before__lt=last, before__gt=first - F("examples")
    ).order_by("before", "id")
    found = rows.values_list("worker_id", "before", "examples", "seconds")
    return [Stretch(*row).within(first, last) for row in found]


def stretches_of_block(stage: Stage, worker: str, first: int, last: int) -> list[Stretch]:
    """Return the worker's accepted examples from `first` to before `last`, in order."""
    rows = ExampleCount.objects.filter(
        stage=stage,
        worker=worker,
        own_before__lt=last,
        own_before__gt=first - F("examples"),
    ).order_by("own_before", "id")
    found = rows.values_list("worker_id", "own_before", "examples", "seconds")
    return [Stretch(*row).within(first, last) for row in found]


def progress_of(lease: Lease) -> dict[str, Any] | None:
    """Return {"round", "block"} of the lease's worker; None if no bonus is promised.

    Work that waits to be counted is included if it is approved and not dropped yet. round:
    {"every", "done", "own", "place", "cents", "lacking", "next_cents"}. `done` of the round's
    examples are accepted, `own` of them are the worker's. `place` earns `cents`; it is None if it
    earns nothing. With `lacking` more examples the worker would earn `next_cents`. block: {"size",
    "own", "per_hour", "paces"}. In both, `can_fill` says whether the collection has enough seeds
    to fill the round or the block.
    """
    stage = lease.unit.stage
    table = parameters_of(stage.collection).stages()[stage.name]
    bonuses = bonuses_of(table)
    if bonuses is None:
        return None
    waiting = list(uncounted(stage).values_list("lease__worker_id", "examples", "active_seconds"))
    # Positions count up, so the last one bounds the number of seeds without counting them.
    seeds = Seed.objects.filter(collection=stage.collection_id)
    last: int = seeds.aggregate(last=Max("position"))["last"] or 0
    most = last * max(map(table.redundancy.most_of, FOLDS))
    return {
        "round": _round(stage, lease.worker_id, waiting, bonuses, most),
        "block": _block(stage, lease.worker_id, waiting, bonuses, most),
    }


def _round(
    stage: Stage, worker: str, waiting: Waiting, bonuses: BonusesTable, most: int
) -> dict[str, Any] | None:
    if not bonuses.top_cents:
        return None
    every, prizes = bonuses.top_every_examples, bonuses.top_cents
    fund = BonusFund.objects.filter(stage=stage).first()
    counted = fund.examples if fund else 0
    total = counted + sum(examples for _, examples, _ in waiting)
    first = total - total % every
    later = [one.within(first, first + every) for one in as_stretches(waiting, counted)]
    ranked = ranked_for_prizes([*stretches_of_round(stage, first, first + every), *later])
    own = dict(ranked).get(worker, 0)
    place = next((at for at, (who, _) in enumerate(ranked) if who == worker), len(ranked))
    # The place to reach next: one better, or the last that earns something.
    wanted = min(place, len(prizes)) - 1 if own else min(len(ranked), len(prizes) - 1)
    above = ranked[wanted][1] if 0 <= wanted < len(ranked) else 0
    in_sight = wanted >= 0
    return {
        "every": every,
        "can_fill": first + every <= most,
        "done": total % every,
        "own": own,
        "place": place + 1 if own and place < len(prizes) else None,
        "cents": prizes[place] if own and place < len(prizes) else 0,
        "lacking": max(1, above - own + 1) if in_sight else 0,
        "next_cents": prizes[wanted] if in_sight else 0,
    }


def _block(
    stage: Stage, worker: str, waiting: Waiting, bonuses: BonusesTable, most: int
) -> dict[str, Any] | None:
    if not bonuses.paces:
        return None
    size = bonuses.block_examples
    counted: int = ExampleCount.objects.filter(stage=stage, worker=worker).aggregate(
        own=Sum("examples", default=0)
    )["own"]
    mine = [one for one in waiting if one[0] == worker]
    own = counted + sum(examples for _, examples, _ in mine)
    first = own - own % size
    later = [one.within(first, first + size) for one in as_stretches(mine, counted)]
    block = [*stretches_of_block(stage, worker, first, first + size), *later]
    return {
        "size": size,
        "can_fill": first + size <= most,
        "own": own % size,
        "per_hour": round(pace(block), 1),
        "paces": [one.model_dump() for one in bonuses.paces],
    }


def enter_bonus(lease: Lease, key: str, cents: int, reason: str, by: str, now: datetime) -> Payment:
    """Create a bonus for handed-in work, with its fee, and return it; the caller books the budget.

    `by` is the person who gave it, blank if a rule promises it. Raises IntegrityError for a `key`
    that exists already.
    """
    stage = lease.unit.stage
    return Payment.objects.create(
        collection_id=stage.collection_id,
        stage=stage,
        worker_id=lease.worker_id,
        lease=lease,
        posting_id=lease.session.posting_id,
        kind=PaymentKind.BONUS,
        amount_cents=cents,
        fee_cents=budget.fee_cents(cents, parameters_of(stage.collection).pay),
        key=key,
        reason=reason,
        by=by,
        created_at=now,
    )
