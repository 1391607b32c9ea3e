"""HITs of a closed corpus: ask from outlines or from passages, and answer by search."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from django.db.models import Exists, OuterRef, QuerySet

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import (
    EvidenceChecks,
    EvidenceQuestionTable,
    SearchAnswerTable,
    WritingChecks,
)
from tasks.models import Exposure, Lease, Submission, Unit, UnitItem, Worker
from tasks.work.kinds.kind import Data, Documents, Item, Skips, checks_as, entries_of, table_as
from tasks.work.kinds.voting import VotingKind, questions_shown
from tasks.work.kinds.writing import (
    WritingKind,
    seeds_of,
    store_own_answers,
    store_questions,
    store_skips,
    unseen,
)
from tasks.work.passages import name_of, outlines_of_seeds, passages_of_seeds
from tasks.work.widgets import evidence, text
from tasks.work.widgets.problems import Cleaned, Problem, clean_all


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


class SearchAnswerKind(VotingKind):
    """Answers found by search, with the passages that prove them, or that there is none."""

    name = "search_answer"
    searches = True
    correction_types = ("answer", "none")

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a question about a seed that the worker has seen in any stage.

        A worker who was shown it by this very unit may come back to it.
        """
        seen = Exposure.objects.filter(worker=worker).values("seed_id")
        items = UnitItem.objects.filter(unit=OuterRef("pk"), question__seed_id__in=seen)
        begun = Lease.objects.filter(unit=OuterRef("pk"), worker=worker)
        return super().allowed(units, worker).exclude(Exists(items) & ~Exists(begun))

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each question, and nothing of what its writer was shown or answered."""
        corpus = unit.stage.collection.corpus
        told = {"lang": corpus.language, "dir": corpus.direction}
        return [
            {"id": item, "question": text, **told} for item, _, text, _ in questions_shown(unit)
        ]

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        checks = checks_as(parameters, EvidenceChecks)
        return {
            "results_per_search": table_as(table, SearchAnswerTable).results_per_search,
            "max_query_characters": checks.max_query_characters,
            "min_searches": checks.min_searches,
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
        """Return {"answers": […]}, one per question, every mark proven, and what is wrong."""

        def text_of(item: str, document: str, paragraph: int) -> str | None:
            return documents(item, name_of(document, paragraph))

        return evidence.clean_answered(data, items, text_of, checks_as(parameters, EvidenceChecks))

    def categories(self, type: str, payload: Mapping[str, object]) -> dict[str, str]:
        """Return the type of the answer."""
        return {"answer type": type}
