"""Tops up the tickets of a stage of dialogs: places for as many people as can still be paired."""

from django.db.models import F, Max, Q, Sum

from collector.models import Stage
from collector.protocols.parameters import StageTable
from tasks.models import LeaseState, TicketState, Topic, Unit


def top_up(stage: Stage, table: StageTable) -> int:
    """Return how many tickets were made; expects a transaction with the stage's row locked.

    Two people for every dialog that is wanted and does not go on yet, whether they wait already
    or are still to come. A ticket is a unit without items: its section is chosen at pairing.
    Free tickets that nobody is needed for any more are closed.
    """
    _add_topics(stage, table)
    open_topics = Topic.objects.filter(stage=stage, taken__lt=F("wanted"))
    dialogs = open_topics.aggregate(n=Sum(F("wanted") - F("taken"), default=0))["n"]
    missing = 2 * dialogs - _people(stage)
    if missing < 0:
        _close(stage, -missing)
    return _make(stage, missing)


def _add_topics(stage: Stage, table: StageTable) -> None:
    """Make every seed of the stage something to talk about as often as its fold asks for."""
    new = stage.collection.seeds.filter(stage_name=stage.name, topic=None).order_by("position")
    Topic.objects.bulk_create(
        Topic(stage=stage, seed=seed, wanted=table.redundancy.of(seed.fold)) for seed in new
    )


def _people(stage: Stage) -> int:
    """Return how many can still be paired: free tickets, and those whose holders wait or read."""
    tickets = Unit.objects.filter(stage=stage, closed=False)
    live = Q(leases__state=LeaseState.LIVE)
    reading = live & Q(leases__ticket=None)
    waiting = live & Q(leases__ticket__state=TicketState.WAITING)
    free = Q(taken=0)
    return tickets.filter(free | reading | waiting).distinct().count()


def _close(stage: Stage, surplus: int) -> None:
    free = stage.units.filter(closed=False, taken=0).order_by("-position")[:surplus]
    for unit in list(free.values_list("pk", flat=True)):
        # Somebody may have taken it since.
        Unit.objects.filter(pk=unit, taken=0).update(closed=True)


def _make(stage: Stage, number: int) -> int:
    last = stage.units.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    made = Unit.objects.bulk_create(
        Unit(stage=stage, position=first + each, redundancy=1) for each in range(number)
    )
    return len(made)
