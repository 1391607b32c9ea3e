"""Text HITs: workers read a passage and write a text about it, with whatever else is asked."""

from django.db.models import Exists, OuterRef, QuerySet

from tasks.kinds.forms import FormKind, filled_in
from tasks.kinds.kind import Data, Item
from tasks.kinds.writing import WritingKind, seeds_of, store_questions
from tasks.models import Exposure, Submission, Unit, UnitItem, Worker
from tasks.work.passages import passages_of


class TextKind(FormKind, WritingKind):
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

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per text, the other fields beside it; expects the transaction."""
        store_questions(submission, filled_in(data))
