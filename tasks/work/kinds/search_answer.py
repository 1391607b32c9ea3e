"""Search answer HITs: workers have a question and a search box over a closed corpus, no more."""

from collections.abc import Mapping, Sequence

from django.db.models import Exists, OuterRef, QuerySet

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import EvidenceChecks, SearchAnswerTable
from tasks.models import Exposure, Lease, Submission, Unit, UnitItem, Worker
from tasks.work.kinds.answer import store_answers
from tasks.work.kinds.kind import Data, Documents, Item, checks_as, table_as
from tasks.work.kinds.voting import VotingKind, questions_shown
from tasks.work.passages import name_of
from tasks.work.widgets import evidence
from tasks.work.widgets.problems import Problem


class SearchAnswerKind(VotingKind):
    """Answers found by search, with the passages that prove them, or that there is none."""

    name = "search_answer"
    searches = True
    correction_types = ("answer", "none")

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a question about a seed that the worker has seen in any stage.

        Whoever was shown it by this very unit may come back to it.
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

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per answer; expects the transaction of the submission."""
        store_answers(submission, data)
