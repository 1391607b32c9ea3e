"""Natural question HITs: workers are told what documents are about, and ask of them."""

from collections.abc import Mapping, Sequence
from typing import cast

from django.db.models import QuerySet

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import WritingChecks
from tasks.models import Submission, Unit, Worker
from tasks.work.kinds.kind import Data, Documents, Item, checks_as, entries_of
from tasks.work.kinds.writing import WritingKind, seeds_of, store_questions, unseen
from tasks.work.passages import outlines_of_seeds
from tasks.work.widgets import text
from tasks.work.widgets.entries import Cleaned, clean_all
from tasks.work.widgets.problems import Problem


class NaturalQuestionKind(WritingKind):
    """Questions that people would ask of documents of which they have read nothing."""

    name = "natural_question"
    cites_passages = True

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a seed that the worker has seen in any stage."""
        return unseen(units, worker)

    def page_items(self, unit: Unit) -> list[Item]:
        """Return the titles and headings of each seed's documents, and not a word of their text."""
        seeds = seeds_of(unit.pk)
        outlines = outlines_of_seeds(seed for seed, _ in seeds.values())
        return [{"id": item, "documents": outlines[seed]} for item, (seed, _) in seeds.items()]

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        checks = checks_as(parameters, WritingChecks)
        return {
            "max_question_characters": checks.max_question_characters,
            "min_question_words": checks.min_question_words,
        }

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"questions": […]}, each {"item", "text"}, and what is wrong."""
        most = checks_as(parameters, WritingChecks).max_question_characters

        def written(entry: dict[str, object], item: Mapping[str, object]) -> Cleaned:
            words, problems = text.clean(entry.get("text"), most_characters=most)
            return {"text": words}, problems

        return clean_all(data, "questions", "question", items, written)

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many questions of a draft have words."""
        return sum(
            bool(str(one.get("text") or "").strip()) for one in entries_of(data, "questions")
        )

    def store(self, submission: Submission, data: Data) -> None:
        """Write the questions, which have no answer yet; expects the submission's transaction."""
        written = cast(Sequence[Mapping[str, str]], data["questions"])
        store_questions(submission, [(one["item"], one["text"], {}) for one in written])
