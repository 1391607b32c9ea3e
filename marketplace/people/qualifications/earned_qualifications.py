"""Qualifications that are earned by doing a HIT, not asked for, and the HITs that earn them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from marketplace.hits.acceptance import available_hits
from marketplace.hits.keywords import stated_terms
from marketplace.models import (
    HANDED_IN,
    Assignment,
    HITType,
    QualificationGrant,
    QualificationType,
)
from marketplace.people.qualifications.requirements import WorkerRecord, access_to, any_of

# What a requester puts among the keywords of a qualification type.
EARNED, UNLISTED = "earned", "unlisted"


@dataclass(frozen=True)
class WayToEarn:
    """How a worker comes by an earned qualification: HITs to do, or work that is being read."""

    kinds: tuple[HITType, ...] = ()
    handed_in_at: datetime | None = None
    # What they handed in was read, and did not earn it.
    is_declined: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether the worker can do something for it, or has and waits for an answer."""
        return bool(self.kinds) or self.handed_in_at is not None


def is_earned_by_work(row: QualificationType) -> bool:
    """Tell whether its requester gives this qualification for work only."""
    return _has(row, EARNED)


def is_unlisted(row: QualificationType) -> bool:
    """Tell whether this is the requester's own bookkeeping, not to be shown among the worker's."""
    return _has(row, UNLISTED)


def _has(row: QualificationType, keyword: str) -> bool:
    return keyword in (word.strip().lower() for word in row.keywords.split(","))


def ways_to_earn(
    rows: Iterable[QualificationType], record: WorkerRecord, now: datetime
) -> dict[int, WayToEarn]:
    """Return for each earned type, by key, how this worker gets it; in three queries.

    The HITs that earn a type are the same requester's that name its id among their keywords
    (`earns:ID`), those of one title once, if the worker may look at them.
    """
    earned = [row for row in rows if is_earned_by_work(row)]
    if not earned:
        return {}
    requesters = {row.requester_id for row in earned}
    worker = record.worker
    is_open = available_hits(worker, now).filter(requester__in=requesters).values("hit_type")
    kinds = HITType.objects.filter(pk__in=is_open).select_related("requester").order_by("-pk")
    seen = [kind for kind in kinds if access_to(kind, record).can_preview]
    done = (
        Assignment.objects.filter(worker=worker, state__in=HANDED_IN, hit__requester__in=requesters)
        .values_list("hit__requester", "hit__hit_type__keywords")
        .annotate(Max("submitted_at"))
    )
    taken = set(
        QualificationGrant.objects.filter(
            worker=worker, is_revoked=True, qualification_type__in=earned
        ).values_list("qualification_type", flat=True)
    )
    return {row.pk: _way(row, seen, list(done), record, row.pk in taken) for row in earned}


def kinds_opened_by(
    rows: Iterable[QualificationType], record: WorkerRecord, now: datetime
) -> dict[int, list[HITType]]:
    """Return for each type, by key, the kinds of HIT that ask for it and that the worker can take.

    Those of one title once. An earned type may open kinds by way of another, unlisted one, and a
    group by way of a type that members of any of several groups have.
    """
    is_open = available_hits(record.worker, now).values("hit_type")
    kinds = HITType.objects.filter(pk__in=is_open).select_related("requester").order_by("pk")
    mine = [kind for kind in kinds if access_to(kind, record).can_accept]
    by_way = QualificationType.objects.filter(
        requester__in={kind.requester_id for kind in mine}, qualification_type_id__in=record.scores
    )
    entries = {
        row.qualification_type_id: row.requester_id
        for row in by_way
        if is_unlisted(row) and is_earned_by_work(row)
    }
    found: dict[int, list[HITType]] = {}
    for row in rows:
        keys = {row.qualification_type_id}
        if is_earned_by_work(row):
            keys |= {key for key, owner in entries.items() if owner == row.requester_id}
        asking = (
            kind
            for kind in mine
            if any(
                not keys.isdisjoint((asked, *any_of(asked)))
                for asked in (need["QualificationTypeId"] for need in kind.requirements)
            )
        )
        found[row.pk] = list({kind.title: kind for kind in asking}.values())
    return found


def _way(
    row: QualificationType,
    seen: list[HITType],
    done: list[tuple[int, str, datetime]],
    record: WorkerRecord,
    was_taken: bool,
) -> WayToEarn:
    earns = row.qualification_type_id
    times = [
        at
        for owner, keywords, at in done
        if owner == row.requester_id and earns in stated_terms(keywords).earns
    ]
    has_answer = was_taken or earns in record.scores
    if times and not has_answer:
        return WayToEarn(handed_in_at=max(times))
    kinds = {
        kind.title: kind
        for kind in reversed(seen)
        if kind.requester_id == row.requester_id and earns in kind.stated.earns
    }
    return WayToEarn(tuple(kinds.values()), is_declined=bool(times) and has_answer)
