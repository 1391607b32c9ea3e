"""One line for each collection: progress, money, what waits."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.dashboard.bars import Segment, segments
from annotation.dashboard.collections.progress import places_by_stage
from annotation.decisions.counted_work import counted_without
from annotation.models import Release, Verdict
from annotation.reports.attention import Attention, attention_to, counted
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import Parameters


@dataclass(frozen=True)
class Summary:
    """`unreadable` says why a collection cannot be opened by this installation."""

    collection: Collection
    parameters: Parameters | None
    attention: Attention
    submitted: int
    places: int
    kept: int
    releases: int
    unreadable: str = ""

    @property
    def bar(self) -> list[Segment]:
        """Return the bar of HITs handed in."""
        return segments([("done", self.submitted)], self.places)

    @property
    def money_bar(self) -> list[Segment]:
        """Return the bar of the budget."""
        row = self.collection
        parts = [("confirmed", row.spent_cents), ("reserved", row.reserved_cents)]
        return segments(parts, row.budget_cents)


def summaries_of(collections: Sequence[Collection]) -> list[Summary]:
    """Return a summary of each; the number of queries does not depend on how many there are."""
    attention = attention_to(collections)
    places = places_by_stage(collections)
    ids = [collection.pk for collection in collections]
    kept = counted(
        Verdict.objects.filter(counted_without(frozenset(), "question__"), outcome="kept"),
        "question__stage__collection",
        ids,
    )
    releases = counted(Release.objects.all(), "collection", ids)
    found = []
    for collection in collections:
        parameters, unreadable = _parameters(collection)
        stages = parameters.stages() if parameters else {}
        main = [name for name, table in stages.items() if not table.qualifies]
        done = [places.get((collection.pk, name), (0, 0)) for name in main]
        found.append(
            Summary(
                collection=collection,
                parameters=parameters,
                attention=attention[collection.pk],
                submitted=sum(submitted for submitted, _ in done),
                places=sum(number for _, number in done),
                kept=kept.get(collection.pk, 0),
                releases=releases.get(collection.pk, 0),
                unreadable=unreadable,
            )
        )
    return found


def _parameters(collection: Collection) -> tuple[Parameters | None, str]:
    try:
        return parameters_of(collection), ""
    except ProtocolError as error:
        return None, str(error)
