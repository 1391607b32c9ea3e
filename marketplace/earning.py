"""Qualifications that are earned by doing a HIT, not asked for, and the HIT that earns them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from marketplace.acceptance import available_hits
from marketplace.models import HANDED_IN, Assignment, HITType, QualificationType
from marketplace.requirements import Standing, access_to

# A requester puts this word among the keywords of a qualification type.
KEYWORD = "earned"


@dataclass(frozen=True)
class Way:
    """How a worker comes by an earned qualification: a HIT to do, or work that is being read."""

    kind: HITType | None = None
    handed_in_at: datetime | None = None


def is_earned(row: QualificationType) -> bool:
    """Tell whether its requester gives this qualification for work only."""
    return KEYWORD in (word.strip().lower() for word in row.keywords.split(","))


def ways_to_earn(
    rows: Iterable[QualificationType], standing: Standing, now: datetime
) -> dict[int, Way]:
    """Return for each earned type, by key, how this worker gets it; in two queries.

    The HIT that earns a type is the same requester's whose title stands in its name or description,
    if the worker may look at it.
    """
    earned = [row for row in rows if is_earned(row)]
    if not earned:
        return {}
    requesters = {row.requester_id for row in earned}
    worker = standing.worker
    is_open = available_hits(worker, now).filter(requester__in=requesters).values("hit_type")
    kinds = HITType.objects.filter(pk__in=is_open).order_by("-pk")
    seen = [kind for kind in kinds if access_to(kind, standing).can_preview]
    done = (
        Assignment.objects.filter(worker=worker, state__in=HANDED_IN, hit__requester__in=requesters)
        .values_list("hit__requester", "hit__hit_type__title")
        .annotate(Max("submitted_at"))
    )
    return {row.pk: _way(row, seen, list(done)) for row in earned}


def _way(
    row: QualificationType, kinds: list[HITType], done: list[tuple[int, str, datetime]]
) -> Way:
    words = f"{row.name}\n{row.description}"
    times = [at for owner, title, at in done if owner == row.requester_id and title in words]
    if times:
        return Way(handed_in_at=max(times))
    for kind in kinds:
        if kind.requester_id == row.requester_id and kind.title in words:
            return Way(kind=kind)
    return Way()
