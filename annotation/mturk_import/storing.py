"""Stores old MTurk results as finished work that was paid before, so that nothing is owed."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.db.models import F

from annotation.mturk_import.plan import Work, known_ids, seeds_for, texts_for
from annotation.mturk_import.result_files import Result
from collector.models import Collection, Seed, Stage
from collector.protocols.creation import parameters_of
from tasks.models import (
    Exposure,
    Identity,
    Lease,
    LeaseEvent,
    LeaseEventKind,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    Question,
    ReceiptState,
    Session,
    Submission,
    Unit,
    Worker,
)
from tasks.models.people import ARCHIVE
from tasks.work.kinds.registry import kind_of
from tasks.work.units import create_unit

# Where the worker ids come from: with it, a person is the same worker in every collection.
ORIGIN = "mturk"
REASON = "Paid on MTurk, before the results were taken in."


@dataclass
class ImportReport:
    """What was stored; `uncounted` lists (place, why) of work that is stored but not counted."""

    n_stored: int = 0
    n_rejected: int = 0
    paid_cents: int = 0
    uncounted: list[tuple[str, str]] = field(default_factory=list)


def store(
    collection: Collection, stage_name: str, works: Sequence[Work], now: datetime
) -> ImportReport:
    """Store all `works` in the order in which they were handed in, in one transaction."""
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        # Another import may have stored the same files since the plan was made.
        known = known_ids(collection.slug)
        works = [work for work in works if work.result.assignment_id not in known]
        parameters = parameters_of(collection)
        stage = collection.stages.get(name=stage_name)
        source = parameters.stages()[stage_name].items_from
        items = [item for work in works for item in work.items]
        if source == "seeds":
            seeds = seeds_for(collection, parameters, stage_name, items)
            writer = _Writer(stage, seeds, {}, now)
        else:
            seeds = seeds_for(collection, parameters, source, items)
            writer = _Writer(stage, seeds, texts_for(collection, source, items, seeds), now)
        for work in works:
            writer.add(work)
        writer.write_steps()
        paid = writer.stored.paid_cents
        Collection.objects.filter(pk=collection.pk).update(
            budget_cents=F("budget_cents") + paid, spent_cents=F("spent_cents") + paid
        )
    return writer.stored


class _Writer:
    """Writes the same rows for one stage's work as the workers' pages would have written."""

    def __init__(
        self,
        stage: Stage,
        seeds: dict[str, Seed],
        texts: dict[tuple[str, str], Question],
        now: datetime,
    ) -> None:
        self.stage, self.seeds, self.texts, self.now = stage, seeds, texts, now
        self.stored = ImportReport()
        self._steps: list[tuple[datetime, LeaseEvent]] = []

    def write_steps(self) -> None:
        """Write the events of all leases, in the order of their times in the results."""
        told = sorted(self._steps, key=lambda step: step[0])
        LeaseEvent.objects.bulk_create(step for _, step in told)

    def add(self, work: Work) -> None:
        """Write one assignment: its worker, HIT, session, lease, submission and payment."""
        result = work.result
        at = result.submitted_at or self.now
        known = Identity.objects.filter(
            provider=ARCHIVE, environment=ORIGIN, person=result.person
        ).first()
        if known is None:
            known = Identity.objects.create(
                provider=ARCHIVE,
                environment=ORIGIN,
                person=result.person,
                worker=Worker.objects.create(created_at=at),
            )
        worker = known.worker
        posting, _ = Posting.objects.get_or_create(
            provider=ARCHIVE,
            environment=self.stage.collection.slug,
            external_id=result.hit_id,
            defaults={
                "stage": self.stage,
                "external_type": result.hit_type_id,
                "token": uuid4(),
                "state": PostingState.SETTLED,
                "reward_cents": result.reward_cents or 0,
                "created_at": at,
                "expires_at": at,
            },
        )
        unit = self._unit(posting, work)
        why = self._why_not(result, unit, worker)
        submission = self._submission(work, at, unit, worker, posting, counts=not why)
        self.stored.n_stored += 1
        if result.status == "Rejected":
            self.stored.n_rejected += 1
        elif why:
            self.stored.uncounted.append((result.place, why))
        if not why:
            Unit.objects.filter(pk=unit.pk).update(
                redundancy=F("taken") + 1, taken=F("taken") + 1, submitted=F("submitted") + 1
            )
            kind_of(self.stage).store(submission, work.data)
        self._pay(result, submission, posting)

    def _unit(self, posting: Posting, work: Work) -> Unit:
        """Return the unit with the HIT's items; it is closed, so that no other worker gets it."""
        found = Unit.objects.filter(leases__session__posting=posting).first()
        if found:
            return found
        items: list[Seed | Question] = [
            self.texts[item.passage, item.text] if self.texts else self.seeds[item.passage]
            for item in work.items
        ]
        unit = create_unit(self.stage, items, 1)
        Unit.objects.filter(pk=unit.pk).update(closed=True)
        return unit

    def _why_not(self, result: Result, unit: Unit, worker: Worker) -> str:
        """Return why the work is stored but not counted; empty if it counts."""
        if result.status == "Rejected":
            return "It was rejected."
        if Lease.objects.filter(unit=unit, worker=worker, state=LeaseState.SUBMITTED).exists():
            return "The same worker had done this HIT before."
        if not kind_of(self.stage).allowed(Unit.objects.filter(pk=unit.pk), worker).exists():
            return "The worker had written or labelled one of its texts before."
        return ""

    def _submission(
        self,
        work: Work,
        at: datetime,
        unit: Unit,
        worker: Worker,
        posting: Posting,
        *,
        counts: bool,
    ) -> Submission:
        result = work.result
        session = Session.objects.create(
            provider=ARCHIVE,
            environment=posting.environment,
            person=result.person,
            session_id=result.assignment_id,
            worker=worker,
            posting=posting,
            submit_url="",
            started_at=result.accepted_at or at,
        )
        lease = Lease.objects.create(
            unit=unit,
            worker=worker,
            session=session,
            state=LeaseState.SUBMITTED if counts else LeaseState.RETURNED,
            taken_at=session.started_at,
            expires_at=at,
            closed_at=at,
            active_seconds=result.work_seconds,
            compensated=True,
        )
        self._steps += [
            (lease.taken_at, LeaseEvent(lease=lease, kind=LeaseEventKind.TAKEN)),
            (at, LeaseEvent(lease=lease, kind=LeaseEventKind.HANDED_IN)),
        ]
        Exposure.objects.bulk_create(
            (
                Exposure(worker=worker, seed_id=seed, kind=self.stage.kind, at=at)
                for seed in kind_of(self.stage).seeds_shown(unit)
            ),
            ignore_conflicts=True,
        )
        archive = {"status": result.status, "feedback": result.feedback, "hit": result.hit_id}
        is_rejected = result.status == "Rejected"
        return Submission.objects.create(
            lease=lease,
            raw={**work.data, "archive": archive},
            receipt=secrets.token_hex(16),
            state=ReceiptState.REJECTED if is_rejected else ReceiptState.APPROVED,
            counts=counts,
            received_at=at,
            confirmed_at=at,
            active_seconds=result.work_seconds,
        )

    def _pay(self, result: Result, submission: Submission, posting: Posting) -> None:
        """Record the payment as confirmed, or as withheld if rejected, so that nothing is sent."""
        if result.reward_cents is None:
            return
        is_paid = result.status != "Rejected"
        Payment.objects.create(
            collection_id=self.stage.collection_id,
            stage=self.stage,
            worker_id=submission.lease.worker_id,
            submission=submission,
            posting=posting,
            kind=PaymentKind.REWARD,
            amount_cents=result.reward_cents,
            key=f"archive:{submission.receipt}",
            reason=REASON if is_paid else "",
            state=PaymentState.CONFIRMED if is_paid else PaymentState.WITHHELD,
            created_at=submission.received_at,
            confirmed_at=submission.received_at if is_paid else None,
        )
        self.stored.paid_cents += result.reward_cents if is_paid else 0
