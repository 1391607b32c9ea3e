"""Who can see and take HITs: why one is closed to a worker, what opens it, how many can take it."""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplace.hits.acceptance import available_hits
from marketplace.models import (
    HANDED_IN,
    Assignment,
    HITType,
    QualificationGrant,
    QualificationType,
    Worker,
)
from marketplace.models.keywords import stated_terms
from marketplace.people.requirements import (
    ADULT,
    LOCALE,
    MASTERS,
    N_APPROVED,
    PERCENT_APPROVED,
    SYSTEM_NAMES,
    WorkerRecord,
    access_to,
    any_of,
    custom_types_of,
    guard_of,
    is_met,
    records_of,
)

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
    """Return whether its requester gives this qualification for work only."""
    return _has(row, EARNED)


def is_unlisted(row: QualificationType) -> bool:
    """Return whether this is the requester's bookkeeping, which workers are not shown."""
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


SCORE_WORDS = {
    "LessThan": gettext_noop("below %(score)s"),
    "LessThanOrEqualTo": gettext_noop("of %(score)s at most"),
    "GreaterThan": gettext_noop("above %(score)s"),
    "GreaterThanOrEqualTo": gettext_noop("of %(score)s or more"),
    "EqualTo": gettext_noop("of exactly %(score)s"),
    "NotEqualTo": gettext_noop("other than %(score)s"),
    "In": gettext_noop("of %(score)s"),
    "NotIn": gettext_noop("other than %(score)s"),
}
# A score of one is how requesters write "has it", so the number would only puzzle.
PLAIN_SCORES = (("GreaterThanOrEqualTo", [1]), ("EqualTo", [1]), ("GreaterThan", [0]))


@dataclass(frozen=True)
class Reason:
    """One thing in the way: a sentence, and what helps, if anything does.

    `askable` is a type to ask for (or to take its test); `way` leads to an earned one;
    `is_final` means that nothing the worker can do here will help.
    """

    sentence: str
    how: str = ""
    askable: QualificationType | None = None
    way: WayToEarn | None = None
    leads_to_preferences: bool = False
    is_final: bool = False


def reason_for(
    need: dict[str, Any],
    record: WorkerRecord,
    types: Mapping[str, QualificationType],
    ways: Mapping[int, WayToEarn],
) -> Reason:
    """Return why this requirement is not met; `ways` are those to the earned ones of `types`."""
    type_id = need["QualificationTypeId"]
    if type_id == LOCALE:
        return _place(need, record)
    if type_id == ADULT:
        how = _("Say in your preferences that you are an adult.")
        return Reason(_("For adults only."), how, leads_to_preferences=True)
    if type_id == N_APPROVED:
        return Reason(_("Asks for more approved HITs than you have yet."))
    if type_id == PERCENT_APPROVED:
        return Reason(_("Asks for a higher share of approved work than yours."))
    if type_id in MASTERS:
        return Reason(_("For Masters only."), is_final=True)
    row = types.get(type_id)
    if row is None or row.deleted_at is not None:
        return Reason(_("Asks for a qualification that does not exist any more."), is_final=True)
    if need["Comparator"] == "DoesNotExist":
        sentence = _("Only for workers who do not have “%(name)s”.") % {"name": row.name}
        return Reason(sentence, is_final=True)
    return _own_type(need, row, record, ways)


def _own_type(
    need: dict[str, Any],
    row: QualificationType,
    record: WorkerRecord,
    ways: Mapping[int, WayToEarn],
) -> Reason:
    score = score_words(need)
    has_it = row.qualification_type_id in record.scores
    if has_it and is_earned_by_work(row) and not score:
        return _declined(row, ways.get(row.pk, WayToEarn()))
    if has_it:
        sentence = _(
            "Needs the qualification “%(name)s” with a score %(score)s; yours is %(have)s."
        ) % {
            "name": row.name,
            "score": score,
            "have": record.scores[row.qualification_type_id],
        }
        is_repeatable = bool(row.test) and row.is_active and row.retry_delay_seconds is not None
        return Reason(sentence, askable=row if is_repeatable else None, is_final=not is_repeatable)
    if score:
        words = {"name": row.name, "score": score}
        sentence = _("Needs the qualification “%(name)s” with a score %(score)s.") % words
    else:
        sentence = _("Needs the qualification “%(name)s”.") % {"name": row.name}
    if is_earned_by_work(row):
        way = ways.get(row.pk, WayToEarn())
        if way.kinds:
            return Reason(_first(way), way=way)
        if way.is_declined:
            return _declined(row, way)
        if way.handed_in_at is not None:
            how = _("You have handed in the HIT for it. If your work passes, this opens by itself.")
            return Reason(sentence, how, way=way)
        how = _("It is earned by work, and no HIT that earns it is posted at present.")
        return Reason(sentence, row.description or how, way=way)
    if not row.is_active:
        return Reason(sentence, _("It cannot be asked for at present."), is_final=True)
    return Reason(sentence, row.description, row)


def _declined(row: QualificationType, way: WayToEarn) -> Reason:
    """Return the reason for somebody whose work was read and did not earn it."""
    if way.kinds:
        return Reason(_first(way), way=way)
    words = {"name": row.name}
    return Reason(_("Your work for “%(name)s” was read and did not pass.") % words, is_final=True)


def _first(way: WayToEarn) -> str:
    titles = f"” {_('or')} “".join(kind.title for kind in way.kinds)
    return _("First pass the HIT “%(title)s”.") % {"title": titles}


def score_words(need: dict[str, Any]) -> str:
    """Return what score a requirement asks for, empty when having the qualification is enough."""
    values = need.get("IntegerValues", [])
    if not values or (need["Comparator"], values) in PLAIN_SCORES:
        return ""
    either = _("or")
    listed = f" {either} ".join(map(str, values))
    return _(SCORE_WORDS[need["Comparator"]]) % {"score": listed}


def _place(need: dict[str, Any], record: WorkerRecord) -> Reason:
    places = places_of(need)
    if need["Comparator"] in ("EqualTo", "In"):
        sentence = _("Only for workers in %(places)s.") % {"places": places}
    else:
        sentence = _("Only for workers outside %(places)s.") % {"places": places}
    worker = record.worker
    parts = [place for place in need.get("LocaleValues", []) if place.get("Subdivision")]
    if not worker.country:
        how = _("Set your country in your preferences.")
    elif not worker.subdivision and worker.country in {one["Country"].upper() for one in parts}:
        how = _("Set your state or region in your preferences.")
    else:
        return Reason(sentence, is_final=True)
    return Reason(sentence, how, leads_to_preferences=True)


def places_of(need: dict[str, Any]) -> str:
    """Return the countries that a requirement names, as `US-CA, GB`."""
    return ", ".join(
        "-".join(filter(None, [place["Country"], place.get("Subdivision")]))
        for place in need.get("LocaleValues", [])
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
