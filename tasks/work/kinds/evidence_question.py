"""Evidence question HITs: workers ask what takes all of a few passages, and answer and prove it."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from django.db.models import QuerySet

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import EvidenceChecks, EvidenceQuestionTable
from tasks.models import Submission, Unit, Worker
from tasks.work.kinds.kind import Data, Documents, Item, Skips, checks_as, entries_of, table_as
from tasks.work.kinds.writing import (
    WritingKind,
    seeds_of,
    store_own_answers,
    store_questions,
    store_skips,
    unseen,
)
from tasks.work.passages import passages_of_seeds
from tasks.work.widgets import evidence
from tasks.work.widgets.problems import Problem


class WrittenQuestion(TypedDict):
    """A question with its answer and evidence, or the reason why its passages were skipped."""

    item: str
    text: str
    category: str
    type: str
    short: str
    full: str
    evidence: list[dict[str, object]]
    skipped: bool
    reason: str


class EvidenceQuestionKind(WritingKind):
    """Questions that need each of one to a few passages, each with its answer, or a reason to skip.

    Or questions that the passages seem to answer and do not.
    """

    name = "evidence_question"
    cites_passages = True
    correction_types = ("answer", "none")

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a seed that the worker has seen in any stage."""
        return unseen(units, worker)

    def skips(self, table: StageTable) -> Skips:
        """Return how many sets of a HIT may be skipped, and by how many people each."""
        own = table_as(table, EvidenceQuestionTable)
        return Skips(own.max_skips, own.max_skips_per_set)

    def page_items(self, unit: Unit) -> list[Item]:
        """Return the passages of each set, under the names by which they are cited."""
        seeds = seeds_of(unit.pk)
        shown = passages_of_seeds(seed for seed, _ in seeds.values())
        return [{"id": item, "paragraphs": shown[seed]} for item, (seed, _) in seeds.items()]

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against, and the types of question."""
        checks = checks_as(parameters, EvidenceChecks)
        own = table_as(table, EvidenceQuestionTable)
        return {
            "categories": [one.model_dump() for one in own.categories],
            "max_question_characters": checks.max_question_characters,
            "min_question_words": checks.min_question_words,
            "max_evidence_words": checks.max_evidence_words,
            "max_reason_characters": checks.max_reason_characters,
        }

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"questions": […]}, one for each set, every mark proven, and what is wrong."""
        categories = [one.value for one in table_as(table, EvidenceQuestionTable).categories]
        checks = checks_as(parameters, EvidenceChecks)
        return evidence.clean_written(data, items, checks, categories)

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many sets a draft has done; a skipped set is done."""
        return sum(
            bool(one.get("skipped") or (str(one.get("text") or "").strip() and one.get("evidence")))
            for one in entries_of(data, "questions")
        )

    def store(self, submission: Submission, data: Data) -> None:
        """Write questions with their writer's answers, and skips; expects the transaction.

        A writer's answer tells how many passages were shown. What only looks like the answer is
        kept as `plausible`: it is no evidence.
        """
        sent = cast(Sequence[WrittenQuestion], data["questions"])
        seeds = seeds_of(submission.lease.unit_id)
        written = [one for one in sent if not one["skipped"]]
        shown = passages_of_seeds(seeds[one["item"]][0] for one in written)
        asked = [(one["item"], one["text"], {"category": one["category"]}) for one in written]
        own: list[tuple[str, Mapping[str, object]]] = []
        for one in written:
            is_answered = one["type"] == "answer"
            payload: dict[str, object] = {
                "short": one["short"],
                "full": one["full"],
                "reason": "",
                "evidence": one["evidence"] if is_answered else [],
                "plausible": [] if is_answered else one["evidence"],
                "shown": len(shown[seeds[one["item"]][0]]),
            }
            own.append((one["type"], payload))
        store_questions(submission, asked)
        store_own_answers(submission, own)
        store_skips(submission, ((one["item"], one["reason"]) for one in sent if one["skipped"]))
