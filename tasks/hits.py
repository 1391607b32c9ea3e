"""Publishes places as HITs, and what they state: the intention is a row first, the call second."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Sum

from collector.models import Collection, CollectionState, Stage, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, WorkersTable
from common.money import amount_of
from tasks.crowd import groups, marketplace
from tasks.ledger import budget, lease_reserves
from tasks.ledger.pay_terms import minutes_to_reject
from tasks.ledger.performance_bonuses import reserve_bonuses
from tasks.models import LeaseState, Posting, PostingState, Unit
from tasks.people import qualifications
from tasks.work.kinds.hit_words import description_of, title_of
from tasks.work.kinds.registry import kind_of
from tasks.work.units import is_done

# As the wire documents them.
LOCALE = "00000000000000000071"
N_APPROVED = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"
# The marketplace knows a token for a day; an hour is for clocks that differ.
TOKEN_HOLDS = timedelta(hours=23)
OUTSTANDING = (PostingState.PUBLISHING, PostingState.LIVE)
# The wire takes no more.
LONGEST = 1000


def requirements_of_past(parameters: Parameters) -> list[dict[str, object]]:
    """Return the system requirements for every HIT; none where the crowd has no such past."""
    workers = _workers_table(parameters)
    if workers is None or not settings.CROWD_HISTORY:
        return []
    asked: list[dict[str, object]] = []
    if workers.countries:
        places = [{"Country": country} for country in workers.countries]
        comparator = "EqualTo" if len(places) == 1 else "In"
        asked.append(_guarded(LOCALE, comparator, LocaleValues=places))
    if workers.min_approved:
        asked.append(_guarded(N_APPROVED, "GreaterThan", IntegerValues=[workers.min_approved]))
    if workers.min_approval_percent:
        least = [workers.min_approval_percent]
        asked.append(_guarded(PERCENT_APPROVED, "GreaterThanOrEqualTo", IntegerValues=least))
    return asked


def unasked_past(parameters: Parameters) -> str:
    """Return what a requester must know at launch: that nothing is asked of the workers' past.

    Empty where it is asked, or where the protocol asks for nothing.
    """
    workers = _workers_table(parameters)
    if workers is None or settings.CROWD_HISTORY:
        return ""
    asked = []
    if workers.countries:
        asked.append(f"workers from {', '.join(workers.countries)}")
    if workers.min_approved:
        asked.append(f"more than {workers.min_approved:,} approved HITs")
    if workers.min_approval_percent:
        asked.append(f"at least {workers.min_approval_percent}% approved")
    if not asked:
        return ""
    return (
        f"The protocol asks for {'; '.join(asked)}. This marketplace has no such history, so "
        "nothing of it is asked: the collection's own qualifications stand in. Where it has, set "
        "CROWD_HISTORY=true."
    )


def _workers_table(parameters: Parameters) -> WorkersTable | None:
    return getattr(parameters, "workers", None)


def _guarded(type_id: str, comparator: str, **values: Any) -> dict[str, Any]:
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        "ActionsGuarded": "Accept",
        **values,
    }


def plan_postings(stage: Stage, now: datetime, wanted: int | None = None) -> int:
    """Write a posting, its money reserved, for every place that can be opened now.

    Each unsubmitted place of a unit deserves one HIT, at most `places_at_once` open at once.
    wanted: how many more, whatever places deserve. Returns how many were written; fewer than wanted
    when the budget is used up. Locks the stage.
    """
    with transaction.atomic():
        stage = (
            Stage.objects.select_for_update(of=("self",), no_key=True)
            .select_related("collection")
            .get(pk=stage.pk)
        )
        if not is_open(stage):
            return 0
        parameters = parameters_of(stage.collection)
        table = parameters.stages()[stage.name]
        ordinary = stage.postings.filter(worker__isnull=True)
        if wanted is None:
            live = ordinary.filter(state__in=OUTSTANDING).count()
            wanted = min(places_left(stage), table.places_at_once) - live
        cost = table.reward_cents + budget.fee_cents(table.reward_cents, parameters.pay)
        serial = ordinary.count()
        written = 0
        while (
            written < wanted
            and reserve_bonuses(stage, table, parameters, 1)
            and budget.reserve(stage.collection_id, cost)
        ):
            Posting.objects.create(
                stage=stage,
                provider=marketplace.PROVIDER,
                environment=marketplace.environment(),
                token=token_of(stage.collection.pseudonym_key, stage.name, serial + written),
                reward_cents=table.reward_cents,
                reserved_cents=cost,
                created_at=now,
                expires_at=now + timedelta(days=table.lifetime_days),
            )
            written += 1
        return written


def token_of(key: str, stage: str, serial: int) -> UUID:
    """Return the token of a stage's HIT number `serial`, of a collection with this secret key."""
    return uuid5(NAMESPACE_URL, f"{key}/{stage}/{serial}")


def places_left(stage: Stage) -> int:
    """Return how many places of the stage's units nobody has submitted yet, 0 if none is wanted."""
    if not is_wanted(stage):
        return 0
    left = stage.units.filter(closed=False).aggregate(left=Sum(F("redundancy") - F("submitted")))[
        "left"
    ]
    return int(left or 0)


def publish_pending(stage: Stage, now: datetime, most: int | None = None) -> int:
    """Make a HIT of every posting in state publishing, at most `most`; returns how many went live.

    Safe to run twice and at once: the posting's token makes no second HIT for a day, and what is
    older is looked for first. Raises MarketplaceError; what went live before stays.
    """
    pending = list(
        stage.postings.filter(state=PostingState.PUBLISHING, worker__isnull=True).order_by("id")[
            :most
        ]
    )
    if not pending:
        return 0
    parameters = parameters_of(stage.collection)
    table = parameters.stages()[stage.name]
    made = find_forgotten(pending, now)
    published = 0
    types: dict[int, str] = {}
    for posting in pending:
        if posting.reward_cents not in types:
            requirements = requirements_of_past(parameters)
            requirements += groups.required(parameters.people.groups)
            if table.requires:
                needed = stage.collection.stages.get(name=table.requires)
                requirements.append(marketplace.required(qualifications.external_id(needed)))
            if qualifications.roles_required(table):
                requirements.append(marketplace.required(qualifications.entry_id(stage)))
            requirements.append(marketplace.forbidden(qualifications.closed_id(stage)))
            types[posting.reward_cents] = marketplace.create_hit_type(
                title=title_of(table),
                description=description_of(table),
                keywords=keywords(stage, parameters),
                reward=amount_of(posting.reward_cents, parameters.pay.minor_units),
                duration=timedelta(minutes=table.allotted_minutes),
                auto_approval=timedelta(days=table.auto_approval_days),
                requirements=requirements,
            )
        type_id = types[posting.reward_cents]
        token = str(posting.token)
        hit = made.get(token) or marketplace.create_hit(
            type_id,
            token=token,
            lifetime=posting.expires_at - now,
            page=page_of(stage.collection),
        )
        published += went_live(posting, hit)
    return published


def page_of(collection: Collection) -> str:
    """Return the path of the collection's page on this site."""
    return f"/collections/{collection.slug}/"


def find_forgotten(postings: Iterable[Posting], now: datetime) -> dict[str, marketplace.Hit]:
    """Return by token the HITs made for postings whose tokens make a second one by now."""
    old = now - TOKEN_HOLDS
    return marketplace.find_hits(
        str(posting.token) for posting in postings if posting.created_at < old
    )


def went_live(posting: Posting, hit: marketplace.Hit) -> int:
    """Note the HIT made for a posting; returns 1, or 0 if somebody has noted one already."""
    return Posting.objects.filter(pk=posting.pk, state=PostingState.PUBLISHING).update(
        state=PostingState.LIVE, external_id=hit.hit_id, external_type=hit.type_id
    )


def withdraw_planned(stage: Stage) -> int:
    """Let go of the HITs planned for a stage that hands out no work now; returns how many.

    One that was made, though nobody noted it, is noted now, to be closed like any other.
    """
    if is_open(stage):
        return 0
    planned = list(stage.postings.filter(state=PostingState.PUBLISHING, worker__isnull=True))
    made = marketplace.find_hits(str(posting.token) for posting in planned)
    withdrawn = 0
    for posting in planned:
        hit = made.get(str(posting.token))
        withdrawn += 0 if hit and went_live(posting, hit) else expire(posting)
    return withdrawn


def close_surplus(stage: Stage) -> int:
    """Expire the HITs of a stage that no place needs any more; returns how many.

    One that the marketplace refuses to expire is logged, and another one is taken.
    """
    live = stage.postings.filter(state=PostingState.LIVE, worker__isnull=True)
    surplus = live.count()
    if is_open(stage):
        surplus -= places_left(stage)
    idle = live.exclude(sessions__leases__state=LeaseState.LIVE).order_by("-id")
    asked: list[Posting] = []

    def close(posting: Posting) -> int:
        marketplace.expire_hit(posting.external_id)
        # Somebody may have accepted it and be reading the consent page: they may go on.
        vacant = marketplace.is_vacant(posting.external_id)
        asked.append(posting)
        return expire(posting) if vacant else 0

    return marketplace.one_by_one(takewhile(lambda _: len(asked) < surplus, idle), close)


def is_wanted(stage: Stage) -> bool:
    """Return whether who does the stage can do something with it; False for some that qualify.

    A qualification opens nothing while the work it leads to is all handed in, or its stages are
    closed: it is offered again when places are.
    """
    tables = parameters_of(stage.collection).stages()
    if not tables[stage.name].qualifies:
        return True
    stages = {one.name: one for one in stage.collection.stages.select_related("collection")}
    # By what it grants, or by what is written in it.
    opened = [
        name
        for name, table in tables.items()
        if stage.name in (table.requires, table.items_from, *qualifications.roles_required(table))
    ]
    return not opened or any(
        stages[name].state != StageState.CLOSED
        and (is_wanted(stages[name]) if tables[name].qualifies else not is_done(stages[name]))
        for name in opened
    )


def is_open(stage: Stage) -> bool:
    """Return whether the stage hands out work."""
    return stage.state == StageState.OPEN and stage.collection.state == CollectionState.COLLECTING


def expire(posting: Posting) -> int:
    """Mark a posting expired and release its money; returns 1, or 0 if it has moved on since.

    A worker who began it and may yet hand in, or be paid for what they saved, has its money.
    """
    as_read = {"state": posting.state, "reserved_cents": posting.reserved_cents}
    with transaction.atomic():
        inherited = lease_reserves.hand_on_reserve(posting)
        ended = Posting.objects.filter(pk=posting.pk, **as_read).update(
            state=PostingState.EXPIRED, reserved_cents=0
        )
        if not ended:
            transaction.set_rollback(True)
        elif not inherited:
            budget.release(posting.stage.collection_id, posting.reserved_cents)
    return ended


def keywords(stage: Stage, parameters: Parameters) -> str:
    """Return the keywords of a stage's HITs; the requester's own give way where all do not fit.

    The marketplace tells workers by them what the HIT is part of, what it pays beside the reward,
    how long it is estimated to take, until when it can be rejected, and which qualification it
    earns.
    """
    table = parameters.stages()[stage.name]
    promise, minor_units = kind_of(table).extra_pay(table), parameters.pay.minor_units
    # Equal values would share a HIT type, and "next" would lead into another collection.
    part_of = f"part-of:{marketplace.as_keyword(stage.collection.title)}"
    stated = [stage.collection.slug, part_of, qualifications.requester_keyword(stage.collection)]
    stated.append(f"expected-minutes:{table.expected_minutes}")
    stated.append(f"rejected-within-minutes:{minutes_to_reject(parameters)}")
    if table.extension_minutes:
        stated.append(f"extension-minutes:{table.extension_minutes}")
    if promise.bonus_cents:
        stated.append(f"bonus-up-to:{amount_of(promise.bonus_cents, minor_units)}")
    if promise.waiting_cents:
        stated.append(f"waiting-per-minute:{amount_of(promise.waiting_cents, minor_units)}")
        stated.append(f"waiting-minutes:{promise.waiting_minutes}")
    if promise.keeps_work:
        stated.append("keeps-work")
    if promise.is_one_at_a_time:
        stated.append("one-at-a-time")
    if table.qualifies:
        stated += ["once", *(f"earns:{known}" for known in _earned(stage))]
    own = [word.strip() for word in table.keywords.split(",") if word.strip()]
    while own and len(", ".join([*own, *stated])) > LONGEST:
        own.pop()
    return ", ".join([*own, *stated])


def _earned(stage: Stage) -> Iterable[str]:
    yield qualifications.external_id(stage)
    for opened in qualifications.stages_opened_by(stage):
        yield qualifications.entry_id(opened)


@dataclass
class StageDemand:
    """Of one stage: places that nobody has submitted, HITs planned, and HITs that are up."""

    left: int = 0
    planned: int = 0
    live: int = 0


def with_surplus(stages: Sequence[Stage]) -> list[Stage]:
    """Return those of the stages that have more HITs up than places."""
    found = _demand(stages)
    return [stage for stage in stages if _has_surplus(stage, found[stage.pk])]


def _has_surplus(stage: Stage, demand: StageDemand) -> bool:
    if not demand.live:
        return False
    wanted = is_open(stage) and is_wanted(stage)
    return demand.live > wanted * demand.left


def with_room(stages: Sequence[Stage]) -> list[Stage]:
    """Return those of the stages in which another HIT may stand open."""
    found = _demand(stages)
    return [stage for stage in stages if _has_room(stage, found[stage.pk])]


def _has_room(stage: Stage, demand: StageDemand) -> bool:
    at_once = parameters_of(stage.collection).stages()[stage.name].places_at_once
    room = min(demand.left, at_once) > demand.planned + demand.live
    return room and is_wanted(stage)


def with_plans(stages: Sequence[Stage]) -> list[Stage]:
    """Return those of the stages for which a HIT is planned that is not up."""
    found = _demand(stages)
    return [stage for stage in stages if found[stage.pk].planned]


def _demand(stages: Sequence[Stage]) -> dict[int, StageDemand]:
    """Return how each of the stages stands, by its id, in two queries."""
    found = {stage.pk: StageDemand() for stage in stages}
    postings = Posting.objects.filter(
        stage__in=stages, state__in=OUTSTANDING, worker__isnull=True
    ).values_list("stage", "state")
    for stage, state, number in postings.order_by().annotate(number=Count("pk")):
        if state == PostingState.LIVE:
            found[stage].live = number
        else:
            found[stage].planned = number
    units = Unit.objects.filter(stage__in=stages, closed=False).values_list("stage")
    for stage, left in units.order_by().annotate(left=Sum(F("redundancy") - F("submitted"))):
        found[stage].left = left
    return found
