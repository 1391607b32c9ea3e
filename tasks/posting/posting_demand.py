"""How the stages of a collection stand: which have HITs too many, too few, or not up yet."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Sum

from collector.models import Stage
from collector.protocols.creation import parameters_of
from tasks.models import Posting, PostingState, Unit
from tasks.posting.hits import OUTSTANDING, is_open, is_wanted


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
