"""Span answer HITs: other people mark the answer to what was asked about a passage, or say none."""

import random
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import SpanChecks
from tasks.models import Submission, Unit
from tasks.work.kinds.answer import store_answers
from tasks.work.kinds.kind import Data, Documents, Item, checks_as
from tasks.work.kinds.voting import VotingKind, questions_shown
from tasks.work.passages import paragraphs_of
from tasks.work.widgets import marked
from tasks.work.widgets.problems import Problem

T = TypeVar("T")


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

    def store(self, submission: Submission, data: Data) -> None:
        """Write one row per answer; expects the transaction of the submission."""
        store_answers(submission, data)


def shuffled(items: Sequence[T], by: str) -> list[T]:
    """Return the items in an order that `by` draws."""
    return random.Random(by).sample(list(items), len(items))
