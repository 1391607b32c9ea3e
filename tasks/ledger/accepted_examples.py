"""Counts what was accepted, in order, and owes each bonus when its round or block is over."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum

from collector.models import Stage
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import BonusesTable, Parameters
from tasks.ledger import budget
from tasks.ledger.bonus_fund import bonuses_of, cost_cents, release_surplus, undecided
from tasks.ledger.bonus_rules import Stretch, pace, pace_cents, ranking, rounds_ended
from tasks.ledger.payments import enter_bonus
from tasks.models import (
    BonusFund,
    ExampleCount,
    Identity,
    Lease,
    Payment,
    ReceiptState,
    Submission,
    Worker,
)


def award_bonuses(stage: Stage, now: datetime) -> int:
    """Count the stage's submissions that were approved since, and return how many bonuses are due.

    Accepted is what was approved and not dropped until its hours of waiting were over (HotpotQA
    A.2); what is dropped later stays counted. Safe to run twice and at once: a submission is
    counted once, a bonus has one key. Locks the stage.
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
    """Return the submissions that were approved and not counted yet, with their `examples`.

    Those of an excluded worker wait: all their questions are dropped, until that is taken back.
    """
    return (
        undecided(stage)
        .filter(state=ReceiptState.APPROVED)
        .select_related("lease__session")
        .annotate(examples=Count("questions", filter=~Q(questions__verdict__outcome="dropped")))
        .order_by("received_at", "id")
    )


def waits_to_count(stage: Stage, worker: Worker) -> bool:
    """Return whether approved work of the worker has not counted for the stage's bonuses yet."""
    table = parameters_of(stage.collection).stages()[stage.name]
    waiting = uncounted(stage).filter(lease__worker=worker)
    return bonuses_of(table) is not None and waiting.exists()


def ranked_for_prizes(stretches: Iterable[Stretch]) -> list[tuple[str, int]]:
    """Return (worker, examples), the best first, without people who were forgotten.

    Nothing can be sent to them: the next worker takes their place.
    """
    ranked = ranking(stretches)
    workers = Identity.objects.filter(worker__in=[worker for worker, _ in ranked])
    known = set(workers.values_list("worker_id", flat=True))
    return [(worker, examples) for worker, examples in ranked if worker in known]


class ExampleCounter:
    """One pass over new submissions of a stage whose row is locked."""

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
            # What was accepted is owed even where less was held for it, as for work that was
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
