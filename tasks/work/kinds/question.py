"""Question HITs: workers read seeds and write questions about them."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from django.db.models import Exists, OuterRef, QuerySet

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import QuestionTable, WritingChecks
from tasks.models import Exposure, Submission, Unit, UnitItem, Worker
from tasks.work.kinds.kind import Data, Documents, Item, checks_as, entries_of, table_as
from tasks.work.kinds.writing import WritingKind, seeds_of, store_questions
from tasks.work.passages import passages_of
from tasks.work.widgets import questions
from tasks.work.widgets.problems import Problem


class CleanedQuestion(TypedDict):
    """A question about one item, its evidence, and the titles of the links it needs."""

    item: str
    text: str
    context: list[object]
    links: list[str]


class QuestionKind(WritingKind):
    """Questions about passages whose links cannot be opened."""

    name = "question"

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a paragraph whose answers the worker has been shown."""
        shown = Exposure.objects.filter(worker=worker, kind="answer").values("seed_id")
        items = UnitItem.objects.filter(unit=OuterRef("pk"), seed_id__in=shown)
        return units.exclude(Exists(items))

    def questions_per_hit(self, table: StageTable) -> int:
        """Return how many questions a HIT asks for, about whichever passages it shows."""
        return table_as(table, QuestionTable).questions_per_hit

    def page_items(self, unit: Unit) -> list[Item]:
        """Return the passages with the titles of their links, never the text behind them."""
        seeds = seeds_of(unit.pk)
        passages = passages_of(seed for seed, _ in seeds.values())
        return [{"id": item, **passages[seed]} for item, (seed, _) in seeds.items()]

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        own, checks = table_as(table, QuestionTable), checks_as(parameters, WritingChecks)
        return {
            "questions": own.questions_per_hit,
            "multi_link_questions": own.multi_link_questions,
            "multi_link_min_links": own.multi_link_min_links,
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
        """Return {"questions": […]} with every offset and title proven, and what is wrong."""
        return questions.clean(
            data,
            items,
            most_questions=table_as(table, QuestionTable).questions_per_hit,
            most_characters=checks_as(parameters, WritingChecks).max_question_characters,
        )

    def parts_wanted(self, table: StageTable, n_items: int) -> int:
        """Return how many questions a HIT asks for, however many passages it shows."""
        return self.questions_per_hit(table)

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many questions of a draft have words."""
        return sum(bool(str(one.get("text", "")).strip()) for one in entries_of(data, "questions"))

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per question; expects the transaction of the submission."""
        store_questions(
            submission,
            [
                (
                    written["item"],
                    written["text"],
                    {"context": written["context"], "links": written["links"]},
                )
                for written in cast(Sequence[CleanedQuestion], data["questions"])
            ],
        )
