"""Whom the HITs that are up are for: each keeps what it was posted with."""

from dataclasses import dataclass

from django.db.models import Count, Min, QuerySet

from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks.crowd import groups
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import LeaseState, Posting, PostingState


@dataclass(frozen=True)
class HitsUp:
    """How many HITs of a stage, by its name, wait for members of any of `groups`.

    groups: () where they are for everybody.
    """

    stage: str
    groups: tuple[str, ...]
    number: int


def hits_up(collection: Collection) -> list[HitsUp]:
    """Return the HITs that wait for somebody, by their stages and whom they were posted for.

    The marketplace is asked only where the groups were ever changed: else all are as chosen.
    Raises MarketplaceError. Expects no transaction.
    """
    # HITs of a type require the same.
    rows = (
        _free(collection)
        .order_by("stage__position")
        .values("stage__name", "external_type")
        .annotate(number=Count("pk"), hit=Min("external_id"))
    )
    chosen = tuple(parameters_of(collection).people.groups)
    was_changed = _was_changed(collection)
    found = []
    for row in rows:
        try:
            required = groups.required_by(row["hit"]) if was_changed else chosen
        except MarketplaceError as error:
            if not error.permanent:
                raise
            # The marketplace has it no more.
            continue
        found.append(HitsUp(row["stage__name"], required, row["number"]))
    return found


def may_differ(collection: Collection) -> bool:
    """Return whether HITs are up that may be for others than are chosen now."""
    return _was_changed(collection) and _free(collection).exists()


def _was_changed(collection: Collection) -> bool:
    return collection.revisions.filter(key="people.groups").exists()


def _free(collection: Collection) -> QuerySet[Posting]:
    return Posting.objects.filter(
        stage__collection=collection, state=PostingState.LIVE, worker__isnull=True
    ).exclude(sessions__leases__state=LeaseState.LIVE)


def groups_needed(collection: Collection, stage: str = "") -> tuple[str, ...]:
    """Return the groups that alone see the HITs of a collection, or of one stage.

    Told by those that are up; where none is, by what will be posted. () where any is for everybody.
    Raises MarketplaceError. Expects no transaction.
    """
    asked = {each.groups for each in hits_up(collection) if stage in ("", each.stage)}
    asked = asked or {tuple(parameters_of(collection).people.groups)}
    return () if () in asked else tuple(sorted({name for names in asked for name in names}))
