"""Files that rankers are trained with and hand back: one JSON object a line."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from annotation.metrics.result import ScoreError, read_file
from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.ranking.bm25 import Bm25
from annotation.protocols.bookqa.ranking.books import RankedBook
from annotation.protocols.bookqa.ranking.inverse_cloze import (
    MutualInformation,
    as_json,
    pseudo_questions,
)
from annotation.protocols.bookqa.ranking.rankings import Ranked, Ranking
from annotation.protocols.bookqa.ranking.supervision import label

PASSAGES, CANDIDATES = "passages.jsonl", "candidates.jsonl"
SUPERVISION, CLOZE = "distant_supervision.jsonl", "inverse_cloze.jsonl"


def passage_lines(book: RankedBook) -> Iterator[Mapping[str, object]]:
    """Yield every passage of a book: its position there and its place in the book's text."""
    for place, text in enumerate(book.passages):
        start, end = book.places[place]
        yield {
            "document_id": book.document,
            "passage": place,
            "start": start,
            "end": end,
            "text": text,
        }


def candidate_lines(ranked: Iterable[Ranked]) -> Iterator[Mapping[str, object]]:
    """Yield what a ranker is to put in order: each question with BM25's first passages."""
    for one in ranked:
        yield {
            "id": one.question.id,
            "document_id": one.book.document,
            "set": one.book.set,
            "question": one.question.text,
            "answers": list(one.question.answers),
            "passages": one.bm25,
        }


def supervision_lines(
    ranked: Iterable[Ranked], numbers: RankingTable, seed: int
) -> Iterator[Mapping[str, object]]:
    """Yield the labels of each question; they follow from the seed and the question alone."""
    for one in ranked:
        found = label(one, numbers, random.Random(f"{seed}:{one.question.id}"))
        yield {
            "id": found.question,
            "document_id": found.document,
            "set": one.book.set,
            "question": one.question.text,
            "positives": found.positives,
            "negatives": found.negatives,
            "left_out": {"positives": found.left_out[0], "negatives": found.left_out[1]},
        }


def cloze_lines(
    book: RankedBook, information: MutualInformation, numbers: RankingTable
) -> Iterator[Mapping[str, object]]:
    """Yield the pseudo-questions of a book."""
    for one in pseudo_questions(book, information, numbers):
        yield as_json(one)


def append(path: Path, lines: Iterable[Mapping[str, object]]) -> int:
    """Write the lines at the end of a file; return how many."""
    number = 0
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            number += 1
    return number


def read_ranking(path: Path) -> dict[str, list[int]]:
    """Return an outside ranker's order of passages by the question's id.

    One object a line: {"id": …, "passages": [best first]}. Raises ScoreError naming the line.
    """
    return dict(_ranking_lines(path))


def check_ranking(
    path: Path, ranking: Ranking, book: RankedBook, numbers: RankingTable
) -> set[str]:
    """Return the ids of the book's questions, each of which is ranked, and from BM25's passages.

    Raises ScoreError naming the question.
    """
    index = Bm25(book.words, numbers.k1, numbers.b)
    for question in book.questions:
        if question.id not in ranking:
            raise ScoreError(f"{path}: the question {question.id} is not in it; rank every one.")
        found = set(index.best(question.words, numbers.depth))
        for passage in ranking[question.id]:
            if passage not in found:
                raise ScoreError(
                    f"{path}: passage {passage} of {question.id} is not among BM25's first "
                    f"{numbers.depth}; put those in order ({CANDIDATES} has them)."
                )
    return {question.id for question in book.questions}


def _ranking_lines(path: Path) -> Iterator[tuple[str, list[int]]]:
    seen: set[str] = set()
    for number, line in enumerate(read_file(path).splitlines(), start=1):
        try:
            value = json.loads(line)
            name, passages = value["id"], value["passages"]
        except (ValueError, TypeError, KeyError):
            name, passages = None, None
        if not isinstance(name, str) or not _are_positions(passages):
            raise ScoreError(
                f'{path}, line {number}: write {{"id": …, "passages": [3, 0, …]}}, each passage '
                "once."
            )
        if name in seen:
            raise ScoreError(f"{path}, line {number}: the question {name} is ranked twice.")
        seen.add(name)
        yield name, passages


def _are_positions(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(type(one) is int for one in value)
        and len(set(value)) == len(value)
    )
