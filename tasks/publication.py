"""Opens a collection to workers, and pauses it."""

from datetime import datetime

from django.db import transaction

from collector.creation import parameters_of
from collector.models import Collection, CollectionState, Stage, StageState
from tasks.crowd import marketplace
from tasks.crowd.requester_api import call


class PublicationError(Exception):
    """The collection cannot be opened as it is; the message says what to do."""


def publish(collection: Collection, stage_name: str = "") -> list[Stage]:
    """Open the collection and its stages (or the one named) and return the opened stages.

    The places themselves are made by the next round of tending. Raises PublicationError without
    seeds or budget, MarketplaceError when the marketplace does not answer; then nothing changes.
    """
    if not collection.seeds.exists():
        raise PublicationError(
            f"The collection has no seeds. Choose some: manage.py select_seeds {collection.slug}"
        )
    parameters = parameters_of(collection)
    cheapest = min(table.reward_cents for table in parameters.stages().values())
    left = collection.budget_cents - collection.reserved_cents - collection.spent_cents
    if left < cheapest:
        raise PublicationError(
            f"The budget left ({left} cents) does not pay a single HIT ({cheapest} cents). "
            "Raise it with --budget."
        )
    call("get_account_balance")
    with transaction.atomic():
        stages = collection.stages.select_for_update(no_key=True)
        if stage_name:
            stages = stages.filter(name=stage_name)
            if not stages:
                known = ", ".join(collection.stages.values_list("name", flat=True))
                raise PublicationError(f"There is no stage {stage_name!r}. Known: {known}.")
        opened = [stage for stage in stages if stage.state != StageState.OPEN]
        Stage.objects.filter(pk__in=[stage.pk for stage in opened]).update(state=StageState.OPEN)
        Collection.objects.filter(pk=collection.pk).update(state=CollectionState.COLLECTING)
    return opened


def pause(collection: Collection) -> None:
    """Stop handing out work; who is at work finishes and is paid."""
    Collection.objects.filter(pk=collection.pk, state=CollectionState.COLLECTING).update(
        state=CollectionState.PAUSED
    )


def raise_budget(collection: Collection, cents: int, by: str, now: datetime) -> None:
    """Set the hard cap to `cents` and record it; raises PublicationError below what is bound."""
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        bound = row.reserved_cents + row.spent_cents
        if cents < bound:
            raise PublicationError(
                f"{bound} cents are reserved or spent already: the budget cannot go below."
            )
        row.revisions.create(key="budget_cents", old=row.budget_cents, new=cents, by=by, at=now)
        row.budget_cents = cents
        row.save(update_fields=["budget_cents"])


def provider_name() -> str:
    """Return where the workers come from, for people to read."""
    return f"the marketplace at {marketplace.environment()}"
