"""Text HITs: workers read a passage and write a text about it, with whatever else is asked."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from django.db.models import Exists, OuterRef, QuerySet

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import FormTable
from tasks.kinds.kind import Data, Documents, Item, table_as
from tasks.kinds.writing import WritingKind, seeds_of, store_questions
from tasks.models import Exposure, Submission, Unit, UnitItem, Worker
from tasks.widgets import form
from tasks.widgets.problems import Problem
from tasks.work.passages import passages_of


class CleanedEntry(TypedDict):
    """A filled-in form about one item: what was written or chosen, by field, in their order."""

    item: str
    fields: dict[str, str]


class TextKind(WritingKind):
    """Texts about passages, by a form that the protocol gives as data."""

    name = "text"

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a passage that the worker has seen with others' texts about it."""
        shown = Exposure.objects.filter(worker=worker).exclude(kind=self.name).values("seed_id")
        items = UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=shown)
        return units.exclude(Exists(items))

    def page_items(self, unit: Unit) -> list[Item]:
        """Return the passages as plain text."""
        seeds = seeds_of(unit.pk)
        passages = passages_of(seed for seed, _ in seeds.values())
        return [
            {"id": item, "passage": {**passages[seed], "links": []}}
            for item, (seed, _) in seeds.items()
        ]

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the form's fields, and how many items there are to fill it in for."""
        return form_limits(table)

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"entries": […]}, one per passage, and what is wrong."""
        return form.clean(data, items, table_as(table, FormTable).fields)

    def share_done(self, data: Mapping[str, object], wanted: int) -> float:
        """Return how much of the work a draft holds, from 0 to 1: the forms somebody has begun."""
        return form.share_done(data, wanted)

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per text, the other fields beside it; expects the transaction."""
        written = []
        for entry in cast(Sequence[CleanedEntry], data["entries"]):
            (_, text), *others = entry["fields"].items()
            written.append((entry["item"], text, {"fields": dict(others)}))
        store_questions(submission, written)


def form_limits(table: StageTable) -> dict[str, object]:
    """Return what the page of a form is told: its fields, and how many items there are."""
    fields = table_as(table, FormTable).model_dump()["fields"]
    return {"items": table.items_per_hit, "fields": fields}
