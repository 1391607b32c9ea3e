"""Validation HITs: the questions of a finished dialog, answered again from its text, in order.

A question is shown when the one before it has been answered, and what its teacher answered when
the worker has: both leave the server no earlier, and an answer that was given stays as it is.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet

from collector.ingest.segmentation import split
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import ValidationTable
from tasks.models import Exposure, Lease, Submission, Unit, UnitItem, Worker
from tasks.work.kinds.answer import store_answers
from tasks.work.kinds.kind import Data, Documents, Item, entries_of, table_as
from tasks.work.kinds.ordered_answers import give_answer, locked_answers, ordered_answers
from tasks.work.kinds.voting import VotingKind, questions_shown
from tasks.work.sections import section_of
from tasks.work.widgets import reply
from tasks.work.widgets.problems import Problem

# Of a section such a stage shows how its article begins, and nothing more.
SHOWS_NO_SECTION = "text"


class ValidationKind(VotingKind):
    """Answers to a dialog's questions, given one after the other."""

    name = "validation"
    correction_types = ("span", "none")

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units of a dialog the worker was in, or of a section they have seen elsewhere.

        Whoever was shown the section by this very unit may come back to it.
        """
        seen = Exposure.objects.filter(worker=worker).exclude(kind=SHOWS_NO_SECTION)
        items = UnitItem.objects.filter(unit=OuterRef("pk"))
        others = seen.exclude(kind=self.name).values("seed_id")
        own = seen.filter(kind=self.name).values("seed_id")
        begun = Lease.objects.filter(unit=OuterRef("pk"), worker=worker)
        return (
            super()
            .allowed(units, worker)
            .exclude(Exists(items.filter(question__seed__in=others)))
            .exclude(Exists(items.filter(question__seed__in=own)) & ~Exists(begun))
        )

    def page_items(self, unit: Unit) -> list[Item]:
        """Return the sections to answer from, None where it is that of the item before.

        The questions are told one after the other: see `page_state`.
        """
        items: list[Item] = []
        last = None
        for item, seed, _, _ in questions_shown(unit):
            items.append({"id": item, "passage": None if seed == last else _passage(seed)})
            last = seed
        return items

    def page_state(self, lease: Lease) -> dict[str, object]:
        """Return how far the lease's worker has come with the questions."""
        return {"ordered_answers": ordered_answers(lease)}

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the longest answer, and whether a hint to the student is asked for."""
        own = table_as(table, ValidationTable)
        return {"max_span_tokens": own.max_span_tokens, "continuation": own.continuation}

    def with_given_answers(self, lease: Lease, data: object) -> dict[str, object]:
        """Return what was sent with the answers that were given before as they were given."""
        given = {str(position): answer for position, answer in locked_answers(lease).items()}
        rest = [each for each in entries_of(data, "answers") if str(each.get("item")) not in given]
        return {"answers": [*given.values(), *rest]}

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"answers": […]}, one per question, with every span proven, and what is wrong."""
        own = table_as(table, ValidationTable)
        return reply.clean_all(
            data,
            reply.passages_of(items),
            most_tokens=own.max_span_tokens,
            continuation=own.continuation,
        )

    def unfinished(self, lease: Lease) -> list[Problem]:
        """Return which question still has to be answered before the next can be."""
        n_given, n_items = len(locked_answers(lease)), lease.unit.items.count()
        if n_given == n_items:
            return []
        return [Problem(f"Answer question {n_given + 1} of {n_items} first.", n_given, "spans")]

    def categories(self, type: str, payload: Mapping[str, object]) -> dict[str, str]:
        """Return whether there is an answer, and what was said beside it."""
        return reply.categories(type, payload)

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per answer; expects the transaction of the submission."""
        store_answers(submission, data)

    def give_answer(
        self, lease: Lease, item: str, answer: object, items: Sequence[Item], now: datetime
    ) -> list[Problem]:
        """Keep the answer to the next question, and return what is wrong: then nothing is kept.

        Raises NotTheNextQuestion for any other question, LeaseEnded when the lease is over.
        """
        return give_answer(lease, item, answer, items, now)


def _passage(seed: int) -> dict[str, object]:
    section = section_of(seed)
    return {
        "title": section.title,
        "section": section.heading,
        "background": section.background,
        "text": section.text,
        "tokens": section.tokens,
        "paragraphs": section.paragraphs,
        "sentences": [
            [start + first, start + last]
            for start, end in section.paragraphs
            for first, last in split(section.text[start:end], section.language)
        ],
        "lang": section.language,
        "dir": section.direction,
    }
