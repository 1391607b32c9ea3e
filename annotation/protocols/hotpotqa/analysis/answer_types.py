"""What answers are, as far as their form tells it (HotpotQA 4, T2)."""

import re
from collections import Counter

from annotation.protocols.hotpotqa.analysis.examples import YES_NO, Example
from annotation.tables.table import Cell, Table, share

MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
DATE = re.compile(rf"\b(?:{MONTHS})\b.*\d|\d.*\b(?:{MONTHS})\b|^(?:1\d|20)\d\d(?:s|[-–]\d+)?$")
NUMBER_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion first second third once twice".split()
)
KINDS = ("yes or no", "date", "number", "proper name", "other words")


def answer_type(answer: str) -> str:
    """Return one of KINDS: what the words look like, not what they mean."""
    words = answer.lower().split()
    if answer in YES_NO:
        return "yes or no"
    if DATE.search(answer.lower()):
        return "date"
    if words and (re.match(r"[^\w]*\d", words[0]) or words[0] in NUMBER_WORDS):
        return "number"
    if any(word[0].isupper() for word in re.findall(r"\w+", answer)):
        return "proper name"
    return "other words"


class AnswerTypes:
    """Counts answers by their form."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, example: Example) -> None:
        """Count one answer."""
        self.counts[answer_type(example.reply.answer)] += 1

    def tables(self) -> list[Table]:
        """Return the share of each form."""
        whole = self.counts.total()
        rows: list[list[Cell]] = [
            [kind, self.counts[kind], share(self.counts[kind], whole)] for kind in KINDS
        ]
        note = (
            "By the form of the words alone. The paper's finer types, where 30 % are persons, are "
            "of its sample labelled by hand: see --sample."
        )
        columns = ["type", "answers", "share"]
        return [Table("answer_types", "Types of answers", columns, rows, note)]
