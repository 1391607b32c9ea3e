"""How many workers can see and take a HIT, and which requirements exclude the others."""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from marketplace.hits.reasons import places_of, score_words
from marketplace.models import HIT, HITType, QualificationType, Worker
from marketplace.people.requirements import (
    LOCALE,
    SYSTEM_NAMES,
    WorkerRecord,
    custom_types_of,
    guard_of,
    is_met,
    records_of,
)

log = logging.getLogger(__name__)

# Workers are counted once in this time, however many HITs of one type are published.
COUNTED_FOR_SECONDS = 60


@dataclass(frozen=True)
class UnmetRequirement:
    """A requirement, as the requester sent it, and how many workers do not meet it."""

    need: dict[str, Any]
    n_workers: int


@dataclass(frozen=True)
class Audience:
    """Of `n_workers`, people with an open account; blocked ones can neither see nor take it."""

    n_workers: int
    n_can_see: int
    n_can_accept: int
    n_blocked: int = 0
    # Those that keep anybody out, the one that keeps out most first.
    excluded: tuple[UnmetRequirement, ...] = ()

    @property
    def is_nobody(self) -> bool:
        """Return whether there are workers and none of them can take it."""
        return self.n_workers > 0 and self.n_can_accept == 0


def audience(hit: HIT) -> Audience:
    """Return who can see a HIT now; expects its type loaded."""
    return audience_of(hit.hit_type)


def audience_of(kind: HITType) -> Audience:
    """Return who can see HITs of this type now, in six queries however many workers there are."""
    return audiences_of([kind])[0]


def audiences_of(kinds: Iterable[HITType]) -> list[Audience]:
    """Return who can see HITs of each type, in six queries however many types there are."""
    workers = Worker.objects.filter(
        is_active=True, is_simulated=False, erased_at=None, merged_into=None
    )
    records = records_of(list(workers))
    return [_counted(kind, records) for kind in kinds]


def _counted(kind: HITType, records: list[WorkerRecord]) -> Audience:
    # As requirements.access_to says of one worker; each requirement is judged once for all.
    met = [[is_met(need, one) for one in records] for need in kind.requirements]
    open_to = [kind.requester_id not in one.blocked_by for one in records]
    hiding = [
        rows
        for need, rows in zip(kind.requirements, met, strict=True)
        if guard_of(need) == "DiscoverPreviewAndAccept"
    ]
    counted = [
        UnmetRequirement(need, rows.count(False))
        for need, rows in zip(kind.requirements, met, strict=True)
    ]
    return Audience(
        n_workers=len(records),
        n_can_see=sum(map(all, zip(open_to, *hiding, strict=True))),
        n_can_accept=sum(map(all, zip(open_to, *met, strict=True))),
        n_blocked=open_to.count(False),
        excluded=tuple(
            sorted((one for one in counted if one.n_workers), key=lambda one: -one.n_workers)
        ),
    )


_counted_at: dict[int, float] = {}


def warn_if_nobody(kind: HITType) -> None:
    """Log a warning when HITs of this type are posted that no worker can take."""
    now = time.monotonic()
    if not kind.requirements or now - _counted_at.get(kind.pk, -1e9) < COUNTED_FOR_SECONDS:
        return
    _counted_at[kind.pk] = now
    found = audience_of(kind)
    if found.is_nobody:
        need = found.excluded[0].need if found.excluded else {}
        log.warning(
            "HIT type %s (%s): none of %s workers can take it; %s %s excludes most.",
            kind.hit_type_id,
            kind.title,
            found.n_workers,
            need.get("QualificationTypeId", "a block"),
            need.get("Comparator", ""),
        )


@dataclass(frozen=True)
class AudienceSummary:
    """The figures of a HIT type, and its requirements in words with how many do not meet each."""

    found: Audience
    excluded: tuple[tuple[str, int], ...]


def audience_summary(kind: HITType) -> AudienceSummary:
    """Return who can see HITs of this type, in seven queries."""
    return audience_summaries([kind])[0]


def audience_summaries(kinds: Iterable[HITType]) -> list[AudienceSummary]:
    """Return who can see HITs of each type, in seven queries however many types there are."""
    kinds = list(kinds)
    if not kinds:
        return []
    types = custom_types_of(kinds)
    return [
        AudienceSummary(
            found, tuple((_words(one.need, types), one.n_workers) for one in found.excluded)
        )
        for found in audiences_of(kinds)
    ]


def _words(need: dict[str, Any], types: Mapping[str, QualificationType]) -> str:
    type_id, comparator = need["QualificationTypeId"], need["Comparator"]
    if type_id == LOCALE:
        place = "in" if comparator in ("EqualTo", "In") else "outside"
        return f"a country {place} {places_of(need)}"
    known = types.get(type_id)
    name = SYSTEM_NAMES.get(type_id) or (f"“{known.name}”" if known else type_id)
    if comparator == "DoesNotExist":
        return f"not having {name}"
    score = score_words(need)
    if type_id in SYSTEM_NAMES or not score:
        return f"{name} {score}".strip()
    return f"{name} with a score {score}"
