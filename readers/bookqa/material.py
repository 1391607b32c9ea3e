"""What trained baselines read: questions with their passages, from the files of a release.

The full story: `passages.jsonl` and `candidates.jsonl`, as `rank_passages` writes them, and where
they are needed `distant_supervision.jsonl`, `inverse_cloze.jsonl` or a ranking; questions of a
`qaps.csv` that these do not know, which the books did not come with, are ranked here. The summary
setting: `qaps.csv` and `summaries.csv`. Files are told apart by what is in them. Only questions of
the set `train` are learnt from.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.metrics.result import ScoreError, read_file
from annotation.protocols.bookqa.export import (
    QUESTIONS,
    SUMMARIES,
    ids_of_rows,
    read_table,
)
from annotation.protocols.bookqa.parameters import defaults
from annotation.protocols.bookqa.ranking import Bm25, Question, Ranked, RankedBook, ranked, words
from annotation.protocols.bookqa.ranking_files import candidate_lines, supervision_lines
from readers.trained import ReaderError

TRAIN, DEV = "train", "valid"
# What a line of each file of `rank_passages` cannot do without.
KEYS = {
    "passages": ("document_id", "passage", "start", "text"),
    "candidates": ("id", "document_id", "set", "question", "answers", "passages"),
    "supervision": ("id", "positives", "negatives"),
    "cloze": ("document_id", "passage", "question", "positive", "negatives"),
    "ranking": ("id", "passages"),
}
Line = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """A question with its answers, and the passages that it may be answered from, best first.

    set: as published. numbers: of the passages, their positions in the book. title: the book's,
    where documents.csv tells it.
    """

    id: str
    document: str
    set: str
    question: str
    answers: tuple[str, ...]
    passages: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    title: str = ""

    def first(self, most: int) -> "Asked":
        """Return it with its best `most` passages alone."""
        return replace(self, passages=self.passages[:most], numbers=self.numbers[:most])

    def ordered(self, numbers: Sequence[int]) -> "Asked":
        """Return it with these of its passages, in this order."""
        of = dict(zip(self.numbers, self.passages, strict=True))
        return replace(self, passages=tuple(of[one] for one in numbers), numbers=tuple(numbers))


@dataclass
class Material:
    """The rows of all files; `books` are the passages of each document in order.

    ranked: the questions of qaps.csv that `found`, the lines of candidates.jsonl, did not know.
    """

    questions: list[Asked] = field(default_factory=list)
    summaries: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    books: dict[str, list[str]] = field(default_factory=dict)
    found: list[Line] = field(default_factory=list)
    supervision: list[Line] = field(default_factory=list)
    cloze: list[Line] = field(default_factory=list)
    rankings: dict[str, list[int]] = field(default_factory=dict)
    ranked: list[Ranked] = field(default_factory=list)
    # Passages by document and number, until all are read.
    numbered: dict[str, dict[int, str]] = field(default_factory=dict)

    def supervised(self) -> list[Line]:
        """Return the labels of distant supervision, those of questions ranked here too."""
        asked = [one for one in self.ranked if one.book.set == TRAIN]
        return [*self.supervision, *supervision_lines(asked, defaults().ranking, seed=0)]

    def about_summaries(self) -> list[Asked]:
        """Return the questions of qaps.csv, each with its book's summary; raises ReaderError."""
        if not self.questions or not self.summaries:
            raise ReaderError(f"--train: give {QUESTIONS} and {SUMMARIES}.")
        known = self.summaries
        for one in self.questions:
            if one.document not in known:
                raise ReaderError(f"{SUMMARIES}: it has no summary of {one.document}.")
        return [replace(one, passages=(known[one.document],)) for one in self.questions]

    def about_stories(self) -> list[Asked]:
        """Return the questions, each with BM25's first passages of its book; raises ReaderError."""
        if not self.found or not self.books:
            raise ReaderError(
                "--train: give passages.jsonl and candidates.jsonl, which rank_passages --out "
                "writes."
            )
        return [
            Asked(
                line["id"],
                line["document_id"],
                line["set"],
                line["question"],
                tuple(line["answers"]),
                tuple(self.passages(line["document_id"], line["passages"])),
                tuple(line["passages"]),
                self.titles.get(line["document_id"], ""),
            )
            for line in self.found
        ]

    def passages(self, document: str, numbers: Sequence[int]) -> list[str]:
        """Return passages of a book by their positions; raises ReaderError where one is missing."""
        book = self.checked(document, numbers)
        return [book[number] for number in numbers]

    def checked(self, document: str, numbers: Sequence[int]) -> list[str]:
        """Return the passages of a book that has all of these; raises ReaderError."""
        book = self.books.get(document, [])
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(book):
            raise ReaderError(
                f"passages.jsonl: it lacks passages of {document} that other files name; give "
                "the files of one run of rank_passages."
            )
        return book


def read_material(paths: Sequence[Path]) -> Material:
    """Return what the files hold; raises ScoreError or ReaderError naming the file and the line."""
    material = Material()
    for path in paths:
        if path.suffix.lower() == ".csv":
            _read_csv(path, material)
        else:
            _read_lines(path, material)
    for document, texts in material.numbered.items():
        material.books[document] = [texts[number] for number in sorted(texts)]
    material.numbered.clear()
    _rank(material)
    return material


def parted(
    asked: Sequence[Asked], dev: Mapping[str, Sequence[str]], where: Path
) -> tuple[list[Asked], list[Asked]]:
    """Return the questions to learn from and those of dev, whose references are dev's.

    Raises ReaderError where a question of dev has no passages.
    """
    by_id = {one.id: one for one in asked}
    missing = next((key for key in dev if key not in by_id), None)
    if missing is not None:
        raise ReaderError(
            f"{where}: the files of --train know nothing of the question {missing}; they must "
            "hold what it may be answered from."
        )
    learnt = [one for one in asked if one.set == TRAIN and one.id not in dev]
    return learnt, [replace(by_id[key], answers=tuple(of)) for key, of in dev.items()]


def by_oracle(asked: Sequence[Asked], material: Material, k1: float, b: float) -> list[Asked]:
    """Return the questions with the passages that BM25 finds by question and answers."""
    made: dict[str, Bm25] = {}
    found = []
    for one in asked:
        book = material.books[one.document]
        if one.document not in made:
            made[one.document] = Bm25([words(passage) for passage in book], k1, b)
        query = [word for text in (one.question, *one.answers) for word in words(text)]
        numbers = made[one.document].best(query, len(one.numbers))
        passages = tuple(book[number] for number in numbers)
        found.append(replace(one, passages=passages, numbers=tuple(numbers)))
    return found


def by_ranking(asked: Sequence[Asked], rankings: Mapping[str, Sequence[int]]) -> list[Asked]:
    """Return the questions with their passages in the order of a ranking; raises ReaderError."""
    found = []
    for one in asked:
        if one.id not in rankings:
            raise ReaderError(f"The ranking lacks the question {one.id}: rank every one.")
        if not set(rankings[one.id]) <= set(one.numbers):
            raise ReaderError(
                f"The ranking has passages of {one.id} that candidates.jsonl has not."
            )
        found.append(one.ordered(rankings[one.id]))
    return found


def _rank(material: Material) -> None:
    """Rank the questions of qaps.csv that no candidates are there for, where there are passages."""
    known = {line["id"] for line in material.found}
    unknown: dict[str, list[Asked]] = {}
    for one in material.questions:
        if one.id not in known and one.document in material.books:
            unknown.setdefault(one.document, []).append(one)
    if not unknown:
        return
    numbers = defaults().ranking
    for document, asked in unknown.items():
        questions = [Question(one.id, one.question, one.answers) for one in asked]
        book = RankedBook(document, asked[0].set, material.books[document], questions)
        found = list(ranked([book], numbers, {}))
        material.found += candidate_lines(found)
        material.ranked += found


def _read_csv(path: Path, material: Material) -> None:
    try:
        kind, rows = read_table(path.name, read_file(path))
    except ValueError as error:
        raise ScoreError(str(error)) from None
    if kind == SUMMARIES:
        material.summaries |= {row["document_id"]: row["summary"].strip() for row in rows}
    elif kind == QUESTIONS:
        ids = ids_of_rows(rows)
        material.questions += [
            Asked(
                key,
                row["document_id"],
                row["set"],
                row["question"],
                (row["answer1"], row["answer2"]),
            )
            for key, row in zip(ids, rows, strict=True)
        ]
    else:
        material.titles |= {row["document_id"]: row["wiki_title"] for row in rows}


def _read_lines(path: Path, material: Material) -> None:
    """Read a file line by line: that of pseudo-questions is as large as all books."""
    kind = ""
    for number, line in enumerate(_lines(path), start=1):
        if not kind:
            kind = next((each for each, keys in KEYS.items() if line.keys() >= set(keys)), "")
            if not kind:
                raise ReaderError(
                    f"{path}: it is no file of rank_passages, no ranking, and no table."
                )
        if not line.keys() >= set(KEYS[kind]):
            raise ReaderError(f"{path}, line {number}: it lacks one of {', '.join(KEYS[kind])}.")
        _ADD[kind](material, line)


def _lines(path: Path) -> Iterator[Line]:
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                try:
                    line = json.loads(text)
                except ValueError:
                    line = None
                if not isinstance(line, dict):
                    raise ReaderError(f"{path}, line {number}: it is no object in JSON.")
                yield line
    except OSError as error:
        raise ReaderError(f"{path}: it cannot be read ({error.strerror}).") from None


def _add_passage(material: Material, line: Line) -> None:
    material.numbered.setdefault(line["document_id"], {})[line["passage"]] = line["text"]


def _add_cloze(material: Material, line: Line) -> None:
    # Hundreds of numbers a line: as machine words they are a tenth as large.
    material.cloze.append({**line, "negatives": array("I", line["negatives"])})


def _add_ranking(material: Material, line: Line) -> None:
    material.rankings[line["id"]] = line["passages"]


_ADD: Mapping[str, Callable[[Material, Line], object]] = {
    "passages": _add_passage,
    "candidates": lambda material, line: material.found.append(line),
    "supervision": lambda material, line: material.supervision.append(line),
    "cloze": _add_cloze,
    "ranking": _add_ranking,
}
