"""Free-answer HITs: workers answer what others asked, in their own words, beside its passage."""

from collections.abc import Sequence
from typing import cast

from tasks.models import Submission, Unit
from tasks.work.answer_summary import WORDS
from tasks.work.kinds.forms import CleanedEntry, FormKind
from tasks.work.kinds.kind import Data, Item
from tasks.work.kinds.voting import VotingKind, questions_shown, store_votes
from tasks.work.passages import passages_of


class FreeAnswerKind(FormKind, VotingKind):
    """Answers in free words to questions that others wrote, each a vote."""

    name = "free_answer"

    def page_items(self, unit: Unit) -> list[Item]:
        """Return each question with its passage, and neither who asked nor what they answered."""
        items = questions_shown(unit)
        passages = passages_of(seed for _, seed, _, _ in items)
        return [
            {"id": item, "text": text, "passage": {**passages[seed], "links": []}}
            for item, seed, text, _ in items
        ]

    def store(self, submission: Submission, data: Data) -> None:
        """Write one vote per question, all fields beside it; expects the transaction.

        How the answers of several people agree is the protocol's to say.
        """
        entries = cast(Sequence[CleanedEntry], data["entries"])
        store_votes(
            submission, [(entry["item"], WORDS, {"fields": entry["fields"]}) for entry in entries]
        )
