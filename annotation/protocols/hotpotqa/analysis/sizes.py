"""How many examples there are and how long everything in them is (HotpotQA 3, T1; B, F5)."""

from collections import Counter
from functools import lru_cache

from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.protocols.hotpotqa.file_format import SPLITS
from annotation.tables.table import NO_QUESTION, Cell, Table, share
from collector.ingest.segmentation import n_tokens as count_of_tokens

ALL = "all"
TYPES = ("bridge", "comparison")
# Records do not tell their language; for a count of tokens that of the paper will do.
LANGUAGE = "en"
# Ours: how wide a class of question lengths is, and from where on they are one class.
LENGTH_STEP, LONGEST = 5, 56
DESCRIPTIONS = {
    "train-easy": "single-hop",
    "train-medium": "multi-hop",
    "train-hard": "hard multi-hop",
    "dev": "hard multi-hop",
    "test-distractor": "hard multi-hop",
    "test-fullwiki": "hard multi-hop",
}


class Size:
    """The sums of one type."""

    def __init__(self) -> None:
        self.examples = self.yes_no = self.spans = 0
        self.question_tokens = self.answer_tokens = 0
        self.facts = self.sentences = self.pair_tokens = self.paragraphs = 0

    def add(self, example: Example) -> None:
        """Count one example."""
        self.examples += 1
        self.question_tokens += n_tokens(example.question)
        self.facts += len(example.reply.facts)
        if example.is_yes_no:
            self.yes_no += 1
        else:
            self.spans += 1
            self.answer_tokens += n_tokens(example.reply.answer)
        for passage in example.pair:
            self.paragraphs += 1
            self.sentences += len(passage.get("sentences") or ())
            self.pair_tokens += n_tokens(passage["text"])


class Sizes:
    """Counts Table 1, the lengths, and Figure 5."""

    def __init__(self) -> None:
        self.splits: Counter[str] = Counter()
        self.lengths: Counter[int] = Counter()
        self.sizes = {name: Size() for name in (ALL, *TYPES)}

    def add(self, example: Example) -> None:
        """Count one example."""
        self.splits[example.split] += 1
        self.lengths[_class(n_tokens(example.question))] += 1
        for name in (ALL, example.type):
            if name in self.sizes:
                self.sizes[name].add(example)

    def tables(self) -> list[Table]:
        """Return the splits, the lengths by type, and the distribution of question lengths."""
        return [self._splits(), self._sizes(), self._lengths()]

    def _splits(self) -> Table:
        whole = self.splits.total()
        rows: list[list[Cell]] = [
            [split, DESCRIPTIONS[split], self.splits[split], share(self.splits[split], whole)]
            for split in SPLITS
        ]
        if self.splits[""]:
            rows.append(["not split yet", "", self.splits[""], share(self.splits[""], whole)])
        note = "In the paper 16 % are easy, 50 % medium and 34 % hard, of these three are held out."
        columns = ["split", "examples are", "examples", "share"]
        return Table("splits", "Data split (Table 1 of the HotpotQA paper)", columns, rows, note)

    def _sizes(self) -> Table:
        measures = {
            "examples": lambda size: size.examples,
            "answered by yes or no": lambda size: size.yes_no,
            "tokens per question": lambda size: share(size.question_tokens, size.examples),
            "tokens per answer that is no yes or no": lambda size: share(
                size.answer_tokens, size.spans
            ),
            "supporting facts per example": lambda size: share(size.facts, size.examples),
            "sentences per gold paragraph": lambda size: share(size.sentences, size.paragraphs),
            "tokens per gold paragraph": lambda size: share(size.pair_tokens, size.paragraphs),
        }
        rows = [
            [name, *(of(size) for size in self.sizes.values())] for name, of in measures.items()
        ]
        return Table("size", "Lengths by type of question", ["measure", *self.sizes], rows)

    def _lengths(self) -> Table:
        whole = self.lengths.total()
        rows: list[list[Cell]] = [
            [_class_name(first), self.lengths[first], share(self.lengths[first], whole)]
            for first in range(1, max(self.lengths, default=0) + 1, LENGTH_STEP)
        ]
        columns = ["tokens", "questions", "share"]
        return Table(
            "question_lengths",
            "Lengths of questions (Figure 5 of the HotpotQA paper)",
            columns,
            rows,
            "" if rows else NO_QUESTION,
        )


def _class(number: int) -> int:
    """Return the first length of the class that a length is in."""
    return min((max(number, 1) - 1) // LENGTH_STEP * LENGTH_STEP + 1, LONGEST)


def _class_name(first: int) -> str:
    return f"{first}+" if first == LONGEST else f"{first}–{first + LENGTH_STEP - 1}"


@lru_cache(maxsize=1024)
def n_tokens(text: str) -> int:
    """Return the number of tokens of the text."""
    return count_of_tokens(text, LANGUAGE)
