"""Span HITs: workers ask about a passage and mark what answers it; others answer, or say none."""

import random
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypedDict, TypeVar, cast

from collector.protocols.creation import parameters_of
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import SpanChecks, SpanQuestionTable
from tasks.models import Submission, Unit
from tasks.work.kinds.kind import Data, Documents, Item, checks_as, entries_of, table_as
from tasks.work.kinds.voting import VotingKind, questions_shown
from tasks.work.kinds.writing import WritingKind, seeds_of, store_own_answers, store_questions
from tasks.work.passages import paragraphs_of
from tasks.work.widgets import marked
from tasks.work.widgets.problems import Problem

T = TypeVar("T")


class WrittenQuestion(TypedDict):
    """A question with what was marked; `type` tells whether that answers it or only seems to."""

    item: str
    text: str
    type: str
    spans: list[dict[str, object]]


class SpanQuestionKind(WritingKind):
    """Questions about passages, each with its answer, or with what looks like one."""

    name = "span_question"
    correction_types = ("span", "none")

    def questions_per_hit(self, table: StageTable) -> int:
        """Return how many questions a HIT asks for."""
        return self.parts_wanted(table, table.items_per_hit)

    def page_items(self, unit: Unit) -> list[Item]:
        """Return an item for each question that is to be written, each with its passage.

        An item's id is that of the seed and its number there; `type` says what is to be asked:
        "span" for a question that the passage answers, "none" for one that it does not.
        """
        stages: Mapping[str, StageTable] = parameters_of(unit.stage.collection).stages()
        own = table_as(stages[unit.stage.name], SpanQuestionTable)
        answered = own.questions_per_item - own.unanswerable_per_item
        seeds = seeds_of(unit.pk)
        shown = paragraphs_of(seed for seed, _ in seeds.values())
        return [
            {
                "id": f"{place}.{number}",
                "type": "span" if number < answered else "none",
                "form": "span",
                "paragraphs": marked.passage(shown[seed].paragraphs),
            }
            for place, (seed, _) in seeds.items()
            for number in range(own.questions_per_item)
        ]

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        checks = checks_as(parameters, SpanChecks)
        return {
            "max_question_characters": checks.max_question_characters,
            "min_question_words": checks.min_question_words,
            "max_answer_words": checks.max_answer_words,
        }

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"questions": […]}, one for each item, every span proven, and what is wrong."""
        return marked.clean_written(data, items, checks_as(parameters, SpanChecks))

    def parts_wanted(self, table: StageTable, n_items: int) -> int:
        """Return how many questions a HIT about `n_items` passages asks for."""
        return n_items * table_as(table, SpanQuestionTable).questions_per_item

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many questions of a draft have words and a mark."""
        return sum(
            bool(str(question.get("text") or "").strip() and question.get("spans"))
            for question in entries_of(data, "questions")
        )

    def store(self, submission: Submission, data: Data) -> None:
        """Write questions with their writer's answers; expects the transaction.

        What only looks like the answer is kept as `plausible`: it is no answer.
        """
        written = cast(Sequence[WrittenQuestion], data["questions"])
        asked: list[tuple[str, str, Mapping[str, object]]] = []
        own: list[tuple[str, Mapping[str, object]]] = []
        for each in written:
            place, _, _ = each["item"].partition(".")
            asked.append((place, each["text"], {}))
            payload: dict[str, object] = {"spans": [], "plausible": [], "reason": ""}
            payload["spans" if each["type"] == "span" else "plausible"] = each["spans"]
            own.append((each["type"], payload))
        store_questions(submission, asked)
        store_own_answers(submission, own)


class SpanAnswerKind(VotingKind):
    """Answers that are words of a passage, or that it has none, or that the question is bad."""

    name = "span_answer"
    correction_types = ("span", "none")

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each question with its passage, and nothing of what its writer marked.

        Those about one passage stand together in an order that tells nothing: a writer asks last
        what the passage does not answer. It is drawn of their words: done again, work looks alike.
        """
        shown = paragraphs_of(seed for _, seed, _, _ in questions_shown(unit))
        found: list[Item] = []
        for seed, rows in groupby(questions_shown(unit), key=lambda row: row[1]):
            about = list(rows)
            about = shuffled(about, "\n".join(text for _, _, text, _ in about))
            passage = marked.passage(shown[seed].paragraphs)
            found += [
                {"id": item, "question": text, "form": "span_or_none", "paragraphs": passage}
                for item, _, text, _ in about
            ]
        return found

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the numbers the page counts against."""
        checks = checks_as(parameters, SpanChecks)
        return {
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
        """Return {"answers": […]}, one per question, every span proven, and what is wrong."""
        return marked.clean_answered(data, items, checks_as(parameters, SpanChecks))

    def categories(self, type: str, payload: Mapping[str, object]) -> dict[str, str]:
        """Return the type of the answer."""
        return {"answer type": type}


def shuffled(items: Sequence[T], by: str) -> list[T]:
    """Return the items in an order that `by` draws."""
    return random.Random(by).sample(list(items), len(items))
