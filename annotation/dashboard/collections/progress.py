"""How far each stage of a collection has come."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Sum

from annotation.dashboard.bars import Segment, segments
from annotation.dashboard.money.hourly_pay import Pace, pace_of
from annotation.splits.difficulty.examples import kept_questions
from annotation.splits.human_performance import sampled_questions
from collector.models import Collection, Stage
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import LabelTable
from tasks.costs.commitments import MADE
from tasks.costs.estimates import StageEstimate
from tasks.models import Grant, Posting, PostingState, Unit
from tasks.work.units import ended_stages


@dataclass(frozen=True)
class StageProgress:
    """Places of one stage: handed in, being worked on, open on the marketplace, and in all.

    `planned` is what the seeds promise, and what there was once `comes` is False: no more places
    come by themselves. `grants` counts a qualification's submissions by what was decided, and who
    was let in without one (`let_in_granted`); `cents_per_hour` is by the minutes expected, before
    anybody has worked.
    """

    stage: Stage
    table: StageTable
    planned: int
    comes: bool
    submitted: int
    at_work: int
    live_hits: int
    grants: dict[str, int]
    pace: Pace | None
    cents_per_hour: int
    below_floor: bool

    @property
    def waiting(self) -> int:
        """Return how many planned places nobody has taken yet."""
        return max(0, self.planned - self.submitted - self.at_work)

    @property
    def labels(self) -> bool:
        """Return whether its workers label by a scheme."""
        return isinstance(self.table, LabelTable)

    @property
    def bar(self) -> list[Segment]:
        """Return the stage's bar."""
        return segments([("done", self.submitted), ("live", self.at_work)], self.planned)


def stages_of(
    collection: Collection, parameters: Parameters, estimates: list[StageEstimate]
) -> list[StageProgress]:
    """Return the collection's stages in order; the number of queries follows the stages alone."""
    counted = Unit.objects.filter(stage__collection=collection).order_by().values_list("stage_id")
    sums = counted.annotate(places=Sum(MADE), at_work=Sum("taken"), done=Sum("submitted"))
    units = {stage: places for stage, *places in sums}
    live_hits = dict(
        Posting.objects.filter(
            stage__collection=collection, state=PostingState.LIVE, worker__isnull=True
        )
        .order_by()
        .values_list("stage_id")
        .annotate(n=Count("pk"))
    )
    grants = _grants(collection)
    ended = ended_stages(collection, parameters)
    found = []
    for row in estimates:
        stage, table = row.stage, parameters.stages()[row.stage.name]
        places, taken, submitted = units.get(stage.pk, (0, 0, 0))
        planned, comes = max(row.places, places), stage.name not in ended
        if not comes and table.sample_questions and not places:
            comes = sampled_questions(collection, table).exists()
            # Where questions are placed by how hard they are, the sample is drawn of the splits.
            unplaced = kept_questions(collection).filter(seed__fold="", split_assignment=None)
            planned = planned if comes or unplaced.exists() else 0
        elif not comes:
            planned = places
        found.append(
            StageProgress(
                stage=stage,
                table=table,
                planned=planned,
                comes=comes,
                submitted=submitted,
                at_work=taken - submitted,
                live_hits=live_hits.get(stage.pk, 0),
                grants=grants.get(stage.pk, {}),
                pace=pace_of(stage, parameters),
                cents_per_hour=row.cents_per_hour,
                below_floor=row.cents_per_hour < parameters.pay.floor_cents_per_hour,
            )
        )
    return found


def places_by_stage(collections: Iterable[Collection]) -> dict[tuple[int, str], tuple[int, int]]:
    """Return (handed in, places) of every stage, by collection id and stage name; one query."""
    rows = (
        Unit.objects.filter(stage__collection__in=collections)
        .order_by()
        .values("stage__collection_id", "stage__name")
        .annotate(places=Sum(MADE), submitted=Sum("submitted"))
    )
    return {
        (row["stage__collection_id"], row["stage__name"]): (row["submitted"], row["places"])
        for row in rows
    }


def _grants(collection: Collection) -> dict[int, dict[str, int]]:
    rows = (
        Grant.objects.filter(qualification__stage__collection=collection)
        .order_by()
        .values_list("qualification__stage_id", "state", "is_let_in")
        .annotate(n=Count("pk"))
    )
    found: dict[int, dict[str, int]] = {}
    for stage, state, is_let_in, n in rows:
        found.setdefault(stage, {})[f"let_in_{state}" if is_let_in else state] = n
    return found
