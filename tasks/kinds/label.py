"""Label HITs: workers label what others wrote, by a form that the protocol gives as data."""

from collections.abc import Mapping, Sequence
from typing import cast

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import FormTable
from tasks.kinds.kind import Data, Documents, Item, table_as
from tasks.kinds.text import CleanedEntry, form_limits
from tasks.kinds.voting import VotingKind, questions_shown, store_votes
from tasks.models import Submission, Unit
from tasks.widgets import form
from tasks.widgets.problems import Problem
from tasks.work.passages import passages_of


class LabelKind(VotingKind):
    """Labels of texts that others wrote, each a vote."""

    name = "label"

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each text with its passage, and never who wrote it."""
        items = questions_shown(unit)
        passages = passages_of(seed for _, seed, _, _ in items)
        return [
            {"id": item, "text": text, "passage": {**passages[seed], "links": []}}
            for item, seed, text, _ in items
        ]

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the form's fields, and how many items there are to fill it in for."""
        return form_limits(table)

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"entries": […]}, one per text, and what is wrong."""
        return form.clean(data, items, table_as(table, FormTable).fields)

    def share_done(self, data: Mapping[str, object], wanted: int) -> float:
        """Return how much of the work a draft holds, from 0 to 1: the forms somebody has begun."""
        return form.share_done(data, wanted)

    def store(self, submission: Submission, data: Data) -> None:
        """Write one vote per text: its type is the label, the other fields stand beside it.

        A vote is a row of answers, so that agreement, review, release and the rule of one vote per
        person hold for labels as they do for answers. Expects the transaction of the submission.
        """
        votes = []
        for entry in cast(Sequence[CleanedEntry], data["entries"]):
            (_, label), *others = entry["fields"].items()
            votes.append((entry["item"], label, {"fields": dict(others)}))
        store_votes(submission, votes)
