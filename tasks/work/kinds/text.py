"""Text HITs: workers read a passage and write a text about it, with whatever else is asked."""

from tasks.models import Submission, Unit
from tasks.work.kinds.forms import FormKind, filled_in
from tasks.work.kinds.kind import Data, Item
from tasks.work.kinds.writing import WritingKind, seeds_of, store_questions
from tasks.work.passages import passages_of


class TextKind(FormKind, WritingKind):
    """Texts about passages, by a form that the protocol gives as data."""

    name = "text"

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
