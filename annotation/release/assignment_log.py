"""The assignment log: who took which bundle of work, in which order, and how it ended."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Q, QuerySet

from annotation.decisions.records import keyed_digest, pseudonym
from collector.models import Collection
from tasks.models import (
    Grant,
    GrantState,
    Lease,
    LeaseEvent,
    LeaseEventKind,
    Question,
    Submission,
    UnitItem,
)

FILE = "assignments.jsonl"


@dataclass(frozen=True)
class Assignment:
    """One lease. `taken` and `handed_in` are places in one order of all that happened, from 1.

    `unit` names the bundle by its content; `granted` is what a requester decided of work in a
    qualifying stage, None where nothing was: who is let in is so whatever it was like.
    """

    number: int
    taken: int
    handed_in: int | None
    lease: Lease
    unit: str
    submission: Submission | None
    granted: bool | None

    @property
    def synthetic(self) -> bool:
        """Return whether a simulated worker did it."""
        made = self.submission or self.lease.worker
        return bool(made.synthetic)


def assignment_lines(collection: Collection, withheld: Iterable[str] = ()) -> Iterator[bytes]:
    """Yield one JSON line per assignment, in the order in which they were taken.

    Fit to be published: people are pseudonyms, and there is no time at all, so that nobody is
    known by when they worked. Work is told by its SHA-256. People who have withdrawn are left out.
    withheld: splits whose passages and answers nobody may find by trying what could be in a
    bundle; where one of their questions is in it, its name and its work are sealed.
    """
    secret = _with_splits(collection, withheld)
    for one in assignments(collection):
        lease, submission = one.lease, one.submission
        unit, work = one.unit, work_digest(submission.raw) if submission else None
        if lease.unit_id in secret:
            unit = keyed_digest(collection.pseudonym_key, unit)[:32]
            work = work and keyed_digest(collection.pseudonym_key, work)
        line = {
            "assignment": one.number,
            "taken": one.taken,
            "handed_in": one.handed_in,
            "stage": lease.unit.stage.name,
            "unit": unit,
            "worker": pseudonym(collection.pseudonym_key, lease.worker_id),
            "end": lease.state,
            "counts": submission.counts if submission else None,
            "work": work,
            "granted": one.granted,
            "instructions_version": lease.instructions.version if lease.instructions else None,
            "consent_version": lease.consent_text.version if lease.consent_text else None,
            "synthetic": one.synthetic,
        }
        yield json.dumps(line).encode() + b"\n"


def assignments(collection: Collection) -> Iterator[Assignment]:
    """Yield every assignment of people who have not withdrawn, in the order they were taken."""
    places = _places(collection)
    names = {pk: name for pk, name, _ in units_of(collection)}
    decided = {
        (stage, worker): state == GrantState.GRANTED
        for stage, worker, state in Grant.objects.filter(
            qualification__stage__collection=collection
        )
        .exclude(Q(state=GrantState.SUBMITTED) | Q(is_let_in=True))
        .values_list("qualification__stage_id", "worker_id", "state")
    }
    leases = (
        _leases(collection)
        .select_related("unit__stage", "worker", "instructions", "consent_text", "submission")
        .select_related("session__posting")
    )
    for number, lease in enumerate(leases.iterator(), start=1):
        submission = getattr(lease, "submission", None)
        yield Assignment(
            number=number,
            taken=places[LeaseEventKind.TAKEN, lease.pk],
            handed_in=places[LeaseEventKind.HANDED_IN, lease.pk] if submission else None,
            lease=lease,
            # A unit without items is none that a page could show.
            unit=names.get(lease.unit_id, ""),
            submission=submission,
            granted=decided.get((lease.unit.stage_id, lease.worker_id)) if submission else None,
        )


def units_of(collection: Collection) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (primary key, name, keys of its items) of every unit; the name follows from the keys.

    No two units of a stage hold the same items, so names differ.
    """
    rows = (
        UnitItem.objects.filter(unit__stage__collection=collection)
        .order_by("unit_id", "position")
        .values_list("unit_id", "unit__stage__name", "seed__key", "question__key")
    )
    for (pk, stage), items in groupby(rows.iterator(), key=lambda row: row[:2]):
        keys = [seed or question for _, _, seed, question in items]
        yield pk, unit_name(stage, keys), keys


def unit_name(stage: str, keys: Iterable[str]) -> str:
    """Return what a unit of the stage is called that holds the items of these keys."""
    return uuid5(NAMESPACE_URL, "\n".join((stage, *keys))).hex


def work_digest(raw: Any) -> str:
    """Return the SHA-256 of what was handed in, the same in every database."""
    plain = json.dumps(raw, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _with_splits(collection: Collection, splits: Iterable[str]) -> set[int]:
    """Return the primary keys of the units in which a question of these splits is or was made.

    So are those of a question that may yet be placed in one.
    """
    names = list(splits)
    if not names:
        return set()
    placed = Q(split_assignment__split__in=names)
    unplaced = Q(split_assignment__isnull=True, verdict__outcome="kept")
    secret = Question.objects.filter(placed | unplaced, stage__collection=collection)
    items = UnitItem.objects.filter(
        Q(question__in=secret) | Q(seed_id__in=secret.values("seed_id")),
        unit__stage__collection=collection,
    )
    return set(items.values_list("unit_id", flat=True))


def _leases(collection: Collection) -> "QuerySet[Lease]":
    taken = Lease.objects.filter(
        events__kind=LeaseEventKind.TAKEN, worker__withdrawn_at__isnull=True
    )
    return taken.filter(unit__stage__collection=collection).order_by("events__id")


def _places(collection: Collection) -> dict[tuple[str, int], int]:
    """Return the place of each (kind of step, lease), in one order."""
    steps = LeaseEvent.objects.filter(
        lease__unit__stage__collection=collection, lease__worker__withdrawn_at__isnull=True
    )
    told = steps.order_by("id").values_list("kind", "lease_id")
    return {step: place for place, step in enumerate(told.iterator(), start=1)}
