"""Says in a requester's words how many workers can see their HITs and what keeps the rest out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from marketplace.hits.audience import Audience, audiences_of
from marketplace.models import HITType, QualificationType
from marketplace.people.qualifications.requirements import LOCALE, SYSTEM_NAMES, custom_types_of
from marketplace.site.hits.reasons import places_of, score_words


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
