"""Opens a collection to workers, pauses it, finishes it and reopens it."""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from collector.models import Collection, CollectionState, Stage, StageState
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from common.commands import MANAGE
from tasks.crowd.requester_api import call
from tasks.money import maximum_total
from tasks.work.samples import sample_of


class PublicationError(Exception):
    """The collection cannot be opened or closed as it is; the message says what to do."""


def publish(collection: Collection, stage_name: str = "") -> list[Stage]:
    """Open the collection and return the stages that were opened.

    With `stage_name` that one is opened; without, every stage that was never opened. A closed
    stage stays closed unless it is named, and a paused collection goes on as it was. Its maximum
    total is said, and kept from then on. The places themselves are made by the next round of
    tending. Raises PublicationError without seeds or budget, with nothing to open, or for a
    finished collection; MarketplaceError when the marketplace does not answer; then nothing
    changes.
    """
    _check(collection)
    _check_samples(collection)
    call("get_account_balance")
    maximum_total.say(collection, timezone.now())
    with transaction.atomic():
        # Stages come before their collection, in the order in which places are planned too.
        stages = list(collection.stages.select_for_update(no_key=True))
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        _check(row)
        opened = _to_open(row, stages, stage_name)
        Stage.objects.filter(pk__in=[stage.pk for stage in opened]).update(state=StageState.OPEN)
        # What hands out work is in the lists.
        Collection.objects.filter(pk=row.pk).update(
            state=CollectionState.COLLECTING, archived_at=None
        )
    return opened


def _check_samples(collection: Collection) -> None:
    """Raise PublicationError where a preview could not show its sample of the work."""
    try:
        for kind in set(collection.stages.values_list("kind", flat=True)):
            sample_of(collection.protocol, kind)
    except ProtocolError as error:
        raise PublicationError(str(error)) from None


def pause(collection: Collection) -> None:
    """Stop handing out work; who is at work finishes and is paid."""
    Collection.objects.filter(pk=collection.pk, state=CollectionState.COLLECTING).update(
        state=CollectionState.PAUSED
    )


def finish(collection: Collection, why: str, by: str, now: datetime) -> None:
    """End the intake and record it; tending takes the HITs down and releases their money.

    Who is at work goes on and is paid. Raises PublicationError for a collection that was never
    published or is finished already.
    """
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if row.state == CollectionState.DRAFT:
            raise PublicationError("It was never published: there is nothing to finish.")
        if row.state == CollectionState.FINISHED:
            raise PublicationError("It is finished already.")
        _enter(row, CollectionState.FINISHED, why, by, now)


def reopen(collection: Collection, why: str, by: str, now: datetime) -> None:
    """Pause a finished collection and record it: its stages are as they were, nothing is posted.

    Raises PublicationError for a collection that is not finished.
    """
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if row.state != CollectionState.FINISHED:
            raise PublicationError("It is not finished: there is nothing to reopen.")
        Collection.objects.filter(pk=row.pk).update(archived_at=None)
        _enter(row, CollectionState.PAUSED, why, by, now)


def raise_budget(collection: Collection, cents: int, by: str, now: datetime, why: str = "") -> None:
    """Set the hard cap to `cents` and record it; raises PublicationError below what is bound."""
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        bound = row.reserved_cents + row.spent_cents
        if cents < bound:
            raise PublicationError(
                f"{bound} cents are reserved or spent already: the budget cannot go below."
            )
        row.revisions.create(
            key="budget_cents", old=row.budget_cents, new=cents, why=why, by=by, at=now
        )
        row.budget_cents = cents
        row.save(update_fields=["budget_cents"])


def provider_name() -> str:
    """Return where the workers come from, for people to read."""
    return f"the marketplace at {settings.MTURK_ENDPOINT_URL}"


def _check(collection: Collection) -> None:
    """Raise PublicationError unless work could be handed out and paid."""
    if collection.state == CollectionState.FINISHED:
        raise PublicationError(
            "The collection is finished. Reopen it first: "
            f"{MANAGE} finish_collection {collection.slug} --reopen"
        )
    if not collection.seeds.exists():
        raise PublicationError(
            f"The collection has no seeds. Choose some: {MANAGE} select_seeds {collection.slug}"
        )
    cheapest = min(table.reward_cents for table in parameters_of(collection).stages().values())
    left = collection.budget_cents - collection.reserved_cents - collection.spent_cents
    # What is reserved is up already and can be earned.
    if left < cheapest and not collection.reserved_cents:
        raise PublicationError(
            f"The budget left ({left} cents) does not pay a single HIT ({cheapest} cents). "
            f"Raise it: {MANAGE} change_collection {collection.slug} --budget AMOUNT"
        )


def _to_open(collection: Collection, stages: list[Stage], name: str) -> list[Stage]:
    """Return the stages to open; raises PublicationError for an unknown one or when all closed."""
    closed = [stage for stage in stages if stage.state != StageState.OPEN]
    if name:
        if all(stage.name != name for stage in stages):
            known = ", ".join(stage.name for stage in stages)
            raise PublicationError(f"There is no stage {name!r}. Known: {known}.")
        return [stage for stage in closed if stage.name == name]
    paused = collection.state == CollectionState.PAUSED
    opened = [stage for stage in closed if stage.state == StageState.DRAFT and not paused]
    if not opened and len(closed) == len(stages):
        raise PublicationError(
            "Every stage is closed. Name the one to open: "
            f"{MANAGE} publish {collection.slug} --stage {stages[0].name}"
        )
    return opened


def _enter(
    collection: Collection, state: CollectionState, why: str, by: str, now: datetime
) -> None:
    """Record and store the collection's new state; expects its row to be locked."""
    collection.revisions.create(
        key="state", old=collection.state, new=state, why=why.strip(), by=by, at=now
    )
    collection.state = state
    collection.save(update_fields=["state"])
