"""Opens a collection to workers, pauses, finishes and reopens it; what is said beforehand."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Sum
from django.utils import timezone

from collector.models import Collection, CollectionState, Stage, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError, check_parts, get_protocol, hosts_without
from collector.protocols.parameters import Parameters
from common.actions import ActionError
from common.command_line import MANAGE
from tasks import costs
from tasks.costs import Shortfall, shortfalls
from tasks.crowd.requester_api import call
from tasks.hits import unasked_past as notice
from tasks.ledger.pay_terms import told_requester
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    Unit,
)
from tasks.pages.wording import price
from tasks.people.audience import place
from tasks.people.trusted import check_groups
from tasks.work.samples import sample_of
from tasks.work.units import was_read


class CostChangedError(ActionError):
    """What publishing costs at most is not what was shown, or has just changed."""


def publish(
    collection: Collection, stage_name: str = "", seen_cents: int | None = None
) -> list[Stage]:
    """Open the collection and return the stages that were opened.

    With `stage_name` that one is opened; without, every stage that was never opened. A closed
    stage stays closed unless it is named, and a paused collection goes on as it was. Its maximum
    total is said, and kept from then on. The places themselves are made by the next round of
    maintenance. seen_cents: the maximum total that the requester was shown. Raises ActionError
    without seeds or budget, with nothing to open, for a group that the marketplace does not have,
    where a process does not know the protocol, or for a finished collection, CostChangedError for
    another maximum than was seen; MarketplaceError when the marketplace does not answer; then
    nothing is opened.
    """
    _check(collection)
    # What the protocol's folder lacks, or a preview could not show of it, is refused.
    try:
        check_parts(get_protocol(collection.protocol))
        for kind in set(collection.stages.values_list("kind", flat=True)):
            sample_of(collection.protocol, kind)
    except ProtocolError as error:
        raise ActionError(str(error)) from None
    _check_known(collection)
    call("get_account_balance")
    check_groups(parameters_of(collection).people.groups)
    costs.say_maximum(collection, timezone.now())
    with transaction.atomic():
        # Stages come before their collection, in the order in which places are planned too.
        stages = list(collection.stages.select_for_update(no_key=True))
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        _check(row)
        if not costs.is_current(row) or seen_cents not in (None, row.maximum_cents):
            raise CostChangedError(
                "Pay, seeds or bonuses were changed meanwhile, and so is what it costs at most. "
                "Look at the amounts again, then press the button again."
            )
        opened = _to_open(row, stages, stage_name)
        Stage.objects.filter(pk__in=[stage.pk for stage in opened]).update(state=StageState.OPEN)
        # What hands out work is in the lists.
        Collection.objects.filter(pk=row.pk).update(
            state=CollectionState.COLLECTING, archived_at=None
        )
    return opened


def _check_known(collection: Collection) -> None:
    """Raise ActionError where a process that does the jobs cannot read the protocol."""
    if hosts := hosts_without(collection.protocol, timezone.now()):
        raise ActionError(
            f"Collector runs on {', '.join(hosts)} without the protocol {collection.protocol!r}: "
            "set COLLECTOR_PROTOCOLS there to the folder that has it, restart, and publish again "
            "a minute later."
        )


def pause(collection: Collection) -> None:
    """Stop handing out work; who is at work finishes and is paid."""
    Collection.objects.filter(pk=collection.pk, state=CollectionState.COLLECTING).update(
        state=CollectionState.PAUSED
    )


def close_stage(stage: Stage) -> None:
    """Hand out no work of a stage until it is opened again; who is at work finishes."""
    Stage.objects.filter(pk=stage.pk, state=StageState.OPEN).update(state=StageState.CLOSED)


def finish(collection: Collection, why: str, by: str, now: datetime) -> None:
    """End the intake and record it; maintenance takes the HITs down and releases their money.

    Who is at work goes on and is paid. Raises ActionError for a collection that was never
    published or is finished already.
    """
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if row.state == CollectionState.DRAFT:
            raise ActionError("It was never published: there is nothing to finish.")
        if row.state == CollectionState.FINISHED:
            raise ActionError("It is finished already.")
        _enter(row, CollectionState.FINISHED, why, by, now)


def reopen(collection: Collection, why: str, by: str, now: datetime) -> None:
    """Pause a finished collection and record it: its stages are as they were, nothing is posted.

    Raises ActionError for a collection that is not finished.
    """
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if row.state != CollectionState.FINISHED:
            raise ActionError("It is not finished: there is nothing to reopen.")
        Collection.objects.filter(pk=row.pk).update(archived_at=None)
        _enter(row, CollectionState.PAUSED, why, by, now)


def raise_budget(collection: Collection, cents: int, by: str, now: datetime, why: str = "") -> None:
    """Set the hard cap to `cents` and record a change; raises ActionError below what is bound.

    Locks the collection.
    """
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        bound = row.reserved_cents + row.spent_cents
        if cents < bound:
            raise ActionError(
                f"{bound} cents are reserved or spent already: the budget cannot go below."
            )
        if cents == row.budget_cents:
            return
        row.revisions.create(
            key="budget_cents", old=row.budget_cents, new=cents, why=why, by=by, at=now
        )
        row.budget_cents = cents
        row.save(update_fields=["budget_cents"])


def provider_name() -> str:
    """Return where the workers come from, for people to read."""
    return place()


def _check(collection: Collection) -> None:
    """Raise ActionError unless work could be handed out and paid."""
    if collection.state == CollectionState.FINISHED:
        raise ActionError(
            "The collection is finished. Reopen it first: "
            f"{MANAGE} finish_collection {collection.slug} --reopen",
            on_page="The collection is finished. Reopen it first.",
        )
    if not collection.seeds.exists():
        raise ActionError(
            f"The collection has no seeds. Choose some: {MANAGE} select_seeds {collection.slug}",
            on_page="The collection has no seeds yet. Choose some under Seeds, then publish.",
        )
    cheapest = min(table.reward_cents for table in parameters_of(collection).stages().values())
    left = collection.budget_cents - collection.reserved_cents - collection.spent_cents
    # What is reserved is up already and can be earned.
    if left < cheapest and not collection.reserved_cents:
        raise ActionError(
            f"The budget left ({left} cents) does not pay a single HIT ({cheapest} cents). "
            f"Raise it: {MANAGE} change_collection {collection.slug} --budget AMOUNT",
            on_page="The budget left does not pay a single HIT. Raise it, then publish.",
        )


def _to_open(collection: Collection, stages: list[Stage], name: str) -> list[Stage]:
    """Return the stages to open; raises ActionError for an unknown one or when all closed."""
    closed = [stage for stage in stages if stage.state != StageState.OPEN]
    if name:
        if all(stage.name != name for stage in stages):
            known = ", ".join(stage.name for stage in stages)
            raise ActionError(f"There is no stage {name!r}. Known: {known}.")
        _check_read(collection, name)
        return [stage for stage in closed if stage.name == name]
    paused = collection.state == CollectionState.PAUSED
    opened = [stage for stage in closed if stage.state == StageState.DRAFT and not paused]
    if was_read(collection):
        opened = [stage for stage in opened if stage.name in _drawing(collection)]
    if not opened and len(closed) == len(stages):
        first = (_drawing(collection) if was_read(collection) else []) or [stages[0].name]
        raise ActionError(
            "Every stage is closed. Name the one to open: "
            f"{MANAGE} publish {collection.slug} --stage {first[0]}",
            on_page="Every stage is closed: open one below, and work is handed out again.",
        )
    return opened


def to_open(collection: Collection) -> list[Stage]:
    """Return the stages that `publish` would open, in order; raises ActionError as it does."""
    return _to_open(collection, list(collection.stages.all()), "")


def locks_labels(stage: Stage) -> bool:
    """Return whether a stage, as it was before it was opened, had labels that could change."""
    table = parameters_of(stage.collection).stages()[stage.name]
    return stage.state == StageState.DRAFT and "fields" in table.UNTIL_OPENED


def _check_read(collection: Collection, name: str) -> None:
    """Raise ActionError for a stage that has nothing to do where questions were read from files."""
    drawing = _drawing(collection)
    if was_read(collection) and name not in drawing:
        known = " or ".join(drawing) or "of which its protocol has none"
        raise ActionError(
            "Its questions were read from published files: only a stage that draws some of them "
            f"can be opened, {known}."
        )


def _drawing(collection: Collection) -> list[str]:
    """Return the stages whose items are drawn of what is decided."""
    stages = parameters_of(collection).stages()
    return [name for name, table in stages.items() if table.sample_questions]


def _enter(
    collection: Collection, state: CollectionState, why: str, by: str, now: datetime
) -> None:
    """Record and store the collection's new state; expects its row to be locked."""
    collection.revisions.create(
        key="state", old=collection.state, new=state, why=why.strip(), by=by, at=now
    )
    collection.state = state
    collection.save(update_fields=["state"])


def notices(parameters: Parameters) -> list[str]:
    """Return what is asked of nobody, what pays too little, and until when work can be rejected."""
    told = notice(parameters)
    return [
        *([told] if told else []),
        *(_too_little(each, parameters) for each in shortfalls(parameters)),
        told_requester(parameters),
    ]


def _too_little(each: Shortfall, parameters: Parameters) -> str:
    floor = price(parameters.pay.floor_cents_per_hour, parameters)
    return (
        f"“{each.title}” pays {price(each.cents_per_hour, parameters)} an hour by its "
        f"{each.minutes} expected minutes, below your floor of {floor}. Pay "
        f"{price(each.missing_cents, parameters)} more a HIT ({each.stage}.reward_cents), or "
        "correct the minutes."
    )


@dataclass(frozen=True)
class UnfinishedWork:
    """`hits` nobody works on hold `held_cents`; workers at work have time until `until`.

    `places` of the main task nobody has handed in; `due_cents` is owed and not confirmed, fees
    included.
    """

    hits: int
    held_cents: int
    at_work: int
    until: datetime | None
    places: int
    due_cents: int


def unfinished_work_of(collection: Collection) -> UnfinishedWork:
    """Return what is under way now; four queries."""
    stages = parameters_of(collection).stages()
    main = [name for name, table in stages.items() if not table.qualifies]
    at_work = Lease.objects.filter(session__posting=OuterRef("pk"), state=LeaseState.LIVE)
    # Ordinary HITs that are up and that nobody works on.
    idle = Posting.objects.filter(
        ~Exists(at_work),
        stage__collection=collection,
        worker__isnull=True,
        state__in=(PostingState.PUBLISHING, PostingState.LIVE),
    )
    hits = idle.aggregate(n=Count("pk"), cents=Sum("reserved_cents", default=0))
    live = Lease.objects.filter(
        unit__stage__collection=collection, state=LeaseState.LIVE
    ).aggregate(n=Count("pk"), until=Max("expires_at"))
    places = Unit.objects.filter(
        stage__collection=collection, stage__name__in=main, closed=False
    ).aggregate(n=Sum(F("redundancy") - F("submitted"), default=0))
    due = Payment.objects.filter(collection=collection, state=PaymentState.DUE).aggregate(
        cents=Sum(F("amount_cents") + F("fee_cents"), default=0)
    )
    return UnfinishedWork(
        hits=hits["n"],
        held_cents=hits["cents"],
        at_work=live["n"],
        until=live["until"],
        places=places["n"],
        due_cents=due["cents"],
    )
