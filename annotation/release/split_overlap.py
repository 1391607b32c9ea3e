"""How much of the wording of one split stands in another: what leaks between them is seen by it."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from annotation.records.schema import SeedRecord
from annotation.release.questions_table import rows
from annotation.tables.table import Cell, Table
from collector.retrieval.near_duplicates import runs_of

if TYPE_CHECKING:
    from annotation.protocols.contracts import ExportModule

WORDS = 5
# The columns of the words that prove answers, or only seem to, as the protocols call them.
PROOF = ("evidence", "plausible_evidence", "answer_context")
NAME, TITLE = "overlap", "The same words in two splits"
COLUMNS = ("split", "compared with", "question share", "passage share")
NOTE = (
    f"A split's runs of {WORDS} words in a row, each counted once: the share that the split it is "
    "compared with has too. Passages are those that questions are about, and the words that prove "
    "answers. In a language with few blanks between words, pairs of characters are counted. Words "
    "that many documents have, such as those of a licence, are counted too."
)
TEXTS_AT_ONCE = 1000


class _Runs:
    """The different runs of words of many texts, each text read once."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._waiting: list[Any] = []
        self._found: list[Any] = []

    def add(self, text: str) -> None:
        """Add the runs of a text."""
        # The same passage has many questions.
        if text and hash(text) not in self._seen:
            self._seen.add(hash(text))
            self._waiting.append(runs_of(text, WORDS))
            if len(self._waiting) == TEXTS_AT_ONCE:
                self._found, self._waiting = [self.all()], []

    def all(self) -> Any:
        """Return all runs as sorted numbers, each once: uint64[n]."""
        import numpy

        return numpy.unique(
            numpy.concatenate([numpy.zeros(0, "<u8"), *self._found, *self._waiting])
        )


def overlap(by_split: Mapping[str, Iterable[SeedRecord]], export: "ExportModule") -> Table:
    """Return how much of the wording of each split the ones before it have; no row for one alone.

    by_split: with all their texts, also of splits whose answers are withheld; they are read once.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for split, seeds in by_split.items():
        questions, passages = _Runs(), _Runs()
        for row in rows(split, seeds, export):
            questions.add(row["question"])
            proof = [part for name in PROOF for part in row.get(name) or ()]
            for part in (*row["passages"], *proof):
                passages.add(part["text"])
        asked = questions.all()
        if len(asked):
            found[split] = asked, passages.all()
    told: list[list[Cell]] = [
        [split, other, *map(_share, found[split], found[other])]
        for other, split in combinations(found, 2)
    ]
    return Table(NAME, TITLE, COLUMNS, told, NOTE, named=True)


def _share(own: Any, others: Any) -> float | None:
    import numpy

    return float(numpy.isin(own, others, assume_unique=True).mean()) if len(own) else None
