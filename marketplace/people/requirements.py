"""Decides which HITs a worker may see, preview and accept; what requirements can ask."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any

import pycountry
from django.db.models import Case, Count, Q, QuerySet, When

from common.prepared_sql import PreparedQuery
from marketplace import clock
from marketplace.configuration import DEFAULT_POLICIES, SystemPolicy, system_policies
from marketplace.models import (
    HANDED_IN,
    Assignment,
    AssignmentState,
    HITType,
    QualificationGrant,
    QualificationType,
    Worker,
    WorkerBlock,
    WorkerProfile,
)
from marketplace.models.keywords import stated_values

# Two letters or digits, as the service's model has them; others are told by their shape alone.
SUBDIVISION = re.compile(r"[A-Z0-9]{2}")
# Kosovo's code is in use though not of the standard.
IN_USE = frozenset({"XK"})


def is_country(code: str) -> bool:
    """Return whether this is a country's two letters, upper case."""
    known = code in IN_USE or pycountry.countries.get(alpha_2=code) is not None
    return known and code.isupper()


def is_subdivision(country: str, code: str) -> bool:
    """Return whether a part of this country can have this code, as CA has in US-CA."""
    if country == "US":
        return code.isupper() and pycountry.subdivisions.get(code=f"US-{code}") is not None
    return bool(country) and SUBDIVISION.fullmatch(code) is not None


LOCALE = "00000000000000000071"
N_APPROVED = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"
ADULT = "00000000000000000060"
MASTERS = ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6")
SYSTEM_NAMES = {
    LOCALE: "country",
    N_APPROVED: "number of HITs approved",
    PERCENT_APPROVED: "share of work approved",
    ADULT: "being an adult",
    MASTERS[0]: "Masters",
    MASTERS[1]: "Masters",
}
# The names of these types on the wire; both kinds of Masters, the sandbox's too, have one.
WIRE_NAMES = {
    MASTERS[1]: "Masters",
    MASTERS[0]: "Masters",
    N_APPROVED: "Worker_NumberHITsApproved",
    LOCALE: "Worker_Locale",
    ADULT: "Worker_Adult",
    PERCENT_APPROVED: "Worker_PercentAssignmentsApproved",
}
POLICY_NAMES = {
    LOCALE: "locale",
    N_APPROVED: "n_approved",
    PERCENT_APPROVED: "percent_approved",
    ADULT: "adult",
    MASTERS[0]: "masters",
    MASTERS[1]: "masters",
}
COUNT_NAMES = ("n_submitted", "n_approved", "n_rejected")
Rows = QuerySet[Any, tuple[Any, ...]]
# Nobody has a history on a new marketplace, so demands on it wait until somebody has one.
SUBMISSIONS_BEFORE_HISTORY_COUNTS = 100

ORDER = {
    "LessThan": lambda have, want: have < want,
    "LessThanOrEqualTo": lambda have, want: have <= want,
    "GreaterThan": lambda have, want: have > want,
    "GreaterThanOrEqualTo": lambda have, want: have >= want,
    "EqualTo": lambda have, want: have == want,
    "NotEqualTo": lambda have, want: have != want,
}


@dataclass(frozen=True)
class WorkerRecord:
    """What a worker has: qualifications by type id, history here and before, who blocked them."""

    worker: Worker
    scores: dict[str, int] = field(default_factory=dict)
    n_submitted: int = 0
    n_approved: int = 0
    n_rejected: int = 0
    blocked_by: frozenset[int] = frozenset()
    policies: dict[str, SystemPolicy] = field(default_factory=lambda: DEFAULT_POLICIES)
    n_approved_before: int = 0
    n_rejected_before: int = 0


@dataclass(frozen=True)
class Access:
    """What a worker may do with HITs of one type; `unmet` are the requirements in the way."""

    can_discover: bool
    can_preview: bool
    can_accept: bool
    unmet: tuple[dict[str, Any], ...] = ()


def record_of(worker: Worker) -> WorkerRecord:
    """Return a worker's record, in five queries."""
    return records_of([worker])[0]


def record_for(worker: Worker, hit_type: HITType) -> WorkerRecord:
    """Return as much of a worker's record as decides about HITs of this type: all, where need be.

    Of most types that is who has blocked them, and their scores where the type asks for any.
    """
    asked = {need["QualificationTypeId"] for need in hit_type.requirements}
    if not asked.isdisjoint(SYSTEM_NAMES):
        return record_of(worker)
    keys = [worker.pk]
    scores = _scores_of(keys) if asked else {}
    blocked_by = frozenset(_blocks_of(keys).get(worker.pk, ()))
    return WorkerRecord(worker, scores.get(worker.pk, {}), blocked_by=blocked_by)


def records_of(workers: Sequence[Worker]) -> list[WorkerRecord]:
    """Return the record of each worker, in five queries however many there are."""
    keys = [worker.pk for worker in workers]
    policies, scores, blocks = system_policies(), _scores_of(keys), _blocks_of(keys)
    before = _before(keys)
    counts = {
        key: dict(zip(COUNT_NAMES, counts, strict=True))
        for key, *counts in _rows(keys, _count_rows, COUNTS)
    }
    return [
        WorkerRecord(
            worker=worker,
            scores=scores.get(worker.pk, {}),
            blocked_by=frozenset(blocks.get(worker.pk, ())),
            policies=policies,
            **counts.get(worker.pk, {}),
            **before.get(worker.pk, {}),
        )
        for worker in workers
    ]


def _count_rows(keys: list[int]) -> Rows:
    rows: Any = Assignment.objects.filter(worker__in=keys).order_by().values("worker")
    return rows.annotate(
        n_submitted=Count("pk", filter=Q(state__in=HANDED_IN)),
        n_approved=Count("pk", filter=Q(state=AssignmentState.APPROVED)),
        n_rejected=Count("pk", filter=Q(state=AssignmentState.REJECTED)),
    ).values_list("worker", *COUNT_NAMES)


def _blocks_of(keys: list[int]) -> dict[int, set[int]]:
    blocks: dict[int, set[int]] = {}
    for key, requester in _rows(keys, _block_rows, BLOCKS):
        blocks.setdefault(key, set()).add(requester)
    return blocks


def _block_rows(keys: list[int]) -> Rows:
    return WorkerBlock.objects.filter(worker__in=keys).values_list("worker", "requester")


def _scores_of(keys: list[int]) -> dict[int, dict[str, int]]:
    """Return scores by worker and type; an injected index lag leaves new ones out."""
    scores: dict[int, dict[str, int]] = {}
    for key, type_id, value, granted_at, faults in _rows(keys, _score_rows, SCORES):
        lag = timedelta(seconds=faults.get("index_lag_seconds", 0))
        if not lag or granted_at + lag <= clock.now():
            scores.setdefault(key, {})[type_id] = value
    return scores


def _score_rows(keys: list[int]) -> Rows:
    return QualificationGrant.objects.filter(worker__in=keys, is_revoked=False).values_list(
        "worker",
        "qualification_type__qualification_type_id",
        "integer_value",
        "granted_at",
        "qualification_type__requester__faults",
    )


def _before(keys: list[int]) -> dict[int, dict[str, int]]:
    """Return the history that was imported, as numbers of decisions."""
    found = {}
    for key, n_approved, percent in _rows(keys, _before_rows, BEFORE):
        # With nothing approved a share says nothing of how much was rejected.
        n_decided = 100 * n_approved // percent if percent else n_approved
        n_rejected = max(0, n_decided - n_approved)
        found[key] = {"n_approved_before": n_approved, "n_rejected_before": n_rejected}
    return found


def _before_rows(keys: list[int]) -> Rows:
    return WorkerProfile.objects.filter(
        worker__in=keys, n_approved_before__isnull=False
    ).values_list("worker", "n_approved_before", "percent_approved_before")


def _of_one(build: Callable[[list[int]], Rows]) -> PreparedQuery:
    """Return the query of what belongs to one worker, as `build` finds it for any number."""
    return PreparedQuery(lambda worker: build([worker]), worker=int)


def _rows(
    keys: list[int], build: Callable[[list[int]], Rows], of_one: PreparedQuery
) -> Iterable[tuple[Any, ...]]:
    return of_one.rows(worker=keys[0]) if len(keys) == 1 else build(keys)


COUNTS, BLOCKS = _of_one(_count_rows), _of_one(_block_rows)
SCORES, BEFORE = _of_one(_score_rows), _of_one(_before_rows)


@lru_cache(maxsize=4096)
def any_of(type_id: str) -> tuple[str, ...]:
    """Return the types of which one is enough to have this one, by id; () for most types.

    Its requester names groups of the host's, or types of its own, among its keywords
    (`any-of:ID`). They are kept: a type's keywords never change.
    """
    row = QualificationType.objects.filter(qualification_type_id=type_id).first()
    named = stated_values(row.keywords, "any-of") if row else ()
    if row is None or not named:
        return ()
    allowed = Q(group__isnull=False) | Q(requester=row.requester_id)
    found = QualificationType.objects.filter(allowed, qualification_type_id__in=named)
    return tuple(found.values_list("qualification_type_id", flat=True))


def access_to(hit_type: HITType, record: WorkerRecord) -> Access:
    """Return what the worker may do with HITs of this type."""
    if hit_type.requester_id in record.blocked_by:
        return Access(False, False, False)
    unmet = tuple(need for need in hit_type.requirements if not is_met(need, record))
    guards = {guard_of(need) for need in unmet}
    can_discover = "DiscoverPreviewAndAccept" not in guards
    can_preview = can_discover and "PreviewAndAccept" not in guards
    return Access(can_discover, can_preview, not unmet, unmet)


def guard_of(need: dict[str, Any]) -> str:
    """Return a requirement's ActionsGuarded, the deprecated RequiredToPreview understood."""
    default = "PreviewAndAccept" if need.get("RequiredToPreview") else "Accept"
    return str(need.get("ActionsGuarded", default))


def is_met(need: dict[str, Any], record: WorkerRecord) -> bool:
    """Return whether a worker meets one QualificationRequirement, by the host's policy for it."""
    type_id, comparator = need["QualificationTypeId"], need["Comparator"]
    name = POLICY_NAMES.get(type_id)
    if name is None:
        value = record.scores.get(type_id)
        if value is None and any(one in record.scores for one in any_of(type_id)):
            value = 1
        return _value_is_met(comparator, value, need.get("IntegerValues", []))
    policy = record.policies[name]
    if name == "masters":
        # Nobody here is one, so it is met by everybody or by nobody.
        return policy == SystemPolicy.UNTIL_HISTORY
    is_new = record.n_submitted < SUBMISSIONS_BEFORE_HISTORY_COUNTS
    if policy == SystemPolicy.UNTIL_HISTORY and is_new:
        return True
    if name == "locale":
        if not record.worker.country:
            return False
        named = {
            place.get("Subdivision", "").upper()
            for place in need.get("LocaleValues", [])
            if place["Country"].upper() == record.worker.country
        }
        is_there = "" in named or record.worker.subdivision in named
        if named and not is_there and not record.worker.subdivision:
            # They may be there or not, so nothing is met, as without a country.
            return False
        return is_there == (need["Comparator"] in ("EqualTo", "In"))
    if name == "adult":
        value = int(record.worker.is_adult)
    else:
        value, n_rejected = record.n_approved, record.n_rejected
        if policy == SystemPolicy.IMPORTED:
            value += record.n_approved_before
            n_rejected += record.n_rejected_before
        if name == "percent_approved":
            value = 100 * value // (value + n_rejected) if value + n_rejected else 100
    return _value_is_met(comparator, value, need.get("IntegerValues", []))


def _value_is_met(comparator: str, value: int | None, wanted: list[int]) -> bool:
    if comparator in ("Exists", "DoesNotExist"):
        return (value is not None) == (comparator == "Exists")
    if value is None:
        return False
    if comparator in ("In", "NotIn"):
        return (value in wanted) == (comparator == "In")
    return bool(ORDER[comparator](value, wanted[0]))


def problem_with(requirements: list[dict[str, Any]]) -> str | None:
    """Return a sentence on the first requirement that cannot be meant, None when all can."""
    if len(requirements) > 10:
        return "A HIT type may have ten qualification requirements at most."
    if not requirements:
        return None
    custom = {need["QualificationTypeId"] for need in requirements} - set(SYSTEM_NAMES)
    known = QualificationType.objects.filter(qualification_type_id__in=custom, deleted_at=None)
    # Nobody can ask for a group of the host's, so it is never active.
    usable = Case(When(Q(is_active=True) | Q(group__isnull=False), then=True), default=False)
    is_usable = dict(known.values_list("qualification_type_id", usable))
    for need in requirements:
        type_id = need["QualificationTypeId"]
        if type_id in custom and type_id not in is_usable:
            return f"QualificationType {type_id} does not exist."
        if type_id in custom and not is_usable[type_id]:
            return f"QualificationType {type_id} is Inactive; make it Active to require it."
        if problem := _problem_with_values(need):
            return problem
    return None


def _problem_with_values(need: dict[str, Any]) -> str | None:
    comparator = need["Comparator"]
    is_locale = need["QualificationTypeId"] == LOCALE
    name, other = "LocaleValues", "IntegerValues"
    if not is_locale:
        name, other = other, name
    values = need.get(name, [])
    if need.get(other):
        return f"Give {name}, not {other}, for {need['QualificationTypeId']}."
    if is_locale and comparator not in ("EqualTo", "NotEqualTo", "In", "NotIn"):
        return f"The comparator {comparator} does not go with LocaleValues."
    if is_locale and (problem := _problem_with_places(values)):
        return problem
    if comparator in ("Exists", "DoesNotExist"):
        return f"The comparator {comparator} takes no values." if values else None
    # Published clients name several countries with EqualTo too.
    if is_locale or comparator in ("In", "NotIn"):
        most = 30 if is_locale else 15
        return None if 1 <= len(values) <= most else f"{comparator} takes 1 to {most} {name}."
    return None if len(values) == 1 else f"{comparator} takes exactly one of {name}."


def _problem_with_places(places: list[dict[str, str]]) -> str | None:
    for place in places:
        country, part = place["Country"].upper(), place.get("Subdivision", "").upper()
        if not is_country(country):
            return f"{place['Country']} is no country of ISO 3166; write it as US, GB or DE."
        if part and not is_subdivision(country, part):
            return f"{place['Subdivision']} is no part of {place['Country']} by ISO 3166-2."
    return None


def described(need: dict[str, Any]) -> dict[str, Any]:
    """Return a requirement as replies have it: what was left out filled in."""
    guard = guard_of(need)
    return {**need, "ActionsGuarded": guard, "RequiredToPreview": guard != "Accept"}


def custom_types_of(hit_types: Iterable[HITType]) -> dict[str, QualificationType]:
    """Return the requesters' own qualification types that these HIT types name, by id."""
    ids = {need["QualificationTypeId"] for hit_type in hit_types for need in hit_type.requirements}
    found = QualificationType.objects.filter(qualification_type_id__in=ids - set(SYSTEM_NAMES))
    return {row.qualification_type_id: row for row in found}
