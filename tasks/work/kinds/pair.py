"""Pair HITs: a question that needs both of two paragraphs is written, and answered by others."""

import random
from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from django.db.models import QuerySet

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import PairChecks, PairTable
from tasks.ledger.performance_bonuses import progress_of
from tasks.models import Lease, Submission, Unit, Worker
from tasks.work.kinds.kind import Data, Documents, Item, Skips, checks_as, entries_of, table_as
from tasks.work.kinds.voting import VotingKind, questions_shown, store_votes
from tasks.work.kinds.writing import (
    WritingKind,
    seeds_of,
    store_own_answers,
    store_questions,
    store_skips,
    unseen,
)
from tasks.work.passages import paragraphs_of
from tasks.work.widgets import pairs
from tasks.work.widgets.problems import Problem


class BriefAnswer(TypedDict):
    """A brief answer to one item: words of a paragraph, or yes or no, and the facts behind it."""

    item: str
    type: str
    spans: list[dict[str, object]]
    facts: list[list[int]]


class WrittenPair(BriefAnswer):
    """A pair's question with its writer's answer, or the reason why it was skipped."""

    text: str
    skipped: bool
    reason: str


class PairKind(WritingKind):
    """Questions that need two paragraphs, each with its answer, or a reason to skip the pair."""

    name = "pair"
    correction_types = ("span", "yes", "no")

    def allowed(self, units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
        """Leave out units with a pair the worker has seen elsewhere: skipped, or with its question.

        A worker who was shown the pair by this very unit may come back to it.
        """
        return unseen(units, worker)

    def skips(self, table: StageTable) -> Skips:
        """Return how many pairs of a HIT may be skipped, and by how many people each."""
        own = table_as(table, PairTable)
        return Skips(own.max_skips, own.max_skips_per_pair)

    def page_items(self, unit: Unit) -> list[Item]:
        """Return both paragraphs of each pair, and how its question is asked."""
        seeds = seeds_of(unit.pk)
        shown = paragraphs_of(seed for seed, _ in seeds.values())
        return [
            {
                "id": item,
                "type": shown[seed].payload["type"],
                "form": shown[seed].payload["form"],
                "paragraphs": shown[seed].paragraphs,
            }
            for item, (seed, _) in seeds.items()
        ]

    def page_state(self, lease: Lease) -> dict[str, object]:
        """Return how far the lease's worker is from a bonus."""
        return {"bonus_progress": progress_of(lease)}

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        checks = checks_as(parameters, PairChecks)
        return {
            "pairs": table.items_per_hit,
            "max_question_characters": checks.max_question_characters,
            "min_question_words": checks.min_question_words,
            "max_answer_words": checks.max_answer_words,
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
        """Return {"pairs": […]}, one per pair, every span and sentence proven; what is wrong."""
        return pairs.clean_written(data, items, checks_as(parameters, PairChecks))

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many pairs a draft has done; a skipped pair is done."""
        return sum(
            bool(pair.get("skipped") or (str(pair.get("text") or "").strip() and pair.get("type")))
            for pair in entries_of(data, "pairs")
        )

    def store(self, submission: Submission, data: Data) -> None:
        """Write questions with their writer's answers, and skips; expects the transaction."""
        sent = cast(Sequence[WrittenPair], data["pairs"])
        written = [pair for pair in sent if not pair["skipped"]]
        asked = {item: seed for item, (seed, _) in seeds_of(submission.lease.unit_id).items()}
        shown = paragraphs_of(asked[pair["item"]] for pair in written)
        questions = []
        for pair in written:
            about = shown[asked[pair["item"]]].payload
            payload = {"type": about["type"], "form": about["form"], "facts": pair["facts"]}
            questions.append((pair["item"], pair["text"], payload))
        store_questions(submission, questions)
        store_own_answers(submission, [(pair["type"], answer_payload(pair)) for pair in written])
        store_skips(submission, ((one["item"], one["reason"]) for one in sent if one["skipped"]))


def answer_payload(answer: BriefAnswer) -> dict[str, object]:
    """Return what is stored of an answer: spans with the number of their paragraph, and facts."""
    spans = [{**span, "document": int(str(span["document"]))} for span in answer["spans"]]
    return {"spans": spans, "facts": answer["facts"]}


class PairAnswerKind(VotingKind):
    """Brief answers from two paragraphs, with the sentences that prove them."""

    name = "pair_answer"
    correction_types = ("span", "yes", "no")

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each question with its two paragraphs, in no telling order drawn of its words."""
        items = questions_shown(unit)
        shown = paragraphs_of(seed for _, seed, _, _ in items)
        found: list[Item] = []
        for item, seed, question, _ in items:
            paragraphs = list(shown[seed].paragraphs)
            random.Random(question).shuffle(paragraphs)
            found.append(
                {"id": item, "question": question, "form": "any", "paragraphs": paragraphs}
            )
        return found

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        checks = checks_as(parameters, PairChecks)
        return {"pairs": table.items_per_hit, "max_answer_words": checks.max_answer_words}

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"answers": […]}, one per question, and what is wrong."""
        return pairs.clean_answered(data, items, checks_as(parameters, PairChecks))

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per answer; expects the transaction of the submission."""
        answers = cast(Sequence[BriefAnswer], data["answers"])
        votes = [(each["item"], each["type"], answer_payload(each)) for each in answers]
        store_votes(submission, votes)
