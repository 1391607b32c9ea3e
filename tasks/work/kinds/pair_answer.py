"""Pair answer HITs: other workers answer what was asked about two paragraphs, and prove it."""

import random
from collections.abc import Sequence
from typing import cast

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import PairChecks
from tasks.models import Submission, Unit
from tasks.work.kinds.kind import Data, Documents, Item, checks_as
from tasks.work.kinds.pair import BriefAnswer, answer_payload
from tasks.work.kinds.voting import VotingKind, questions_shown, store_votes
from tasks.work.passages import paragraphs_of
from tasks.work.widgets import pairs
from tasks.work.widgets.problems import Problem


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
