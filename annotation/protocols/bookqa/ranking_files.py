"""Files that rankers are trained with and hand back: one JSON object a line."""

import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.metrics.result import ScoreError, read_file
from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.ranking import Bm25, Ranked, RankedBook, Ranking, label, words
from collector.ingest.segmentation import split
from common.language_pipelines import pipeline

# A sentence that tells what is seen or heard: all of it in brackets, or in capitals.
_BRACKETED = re.compile(r"\s*[\[(].*[\])][\s.]*", re.S)


@dataclass(frozen=True)
class PseudoQuestion:
    """A sentence that asks for the passage it was taken from.

    start, end: of the sentence in the passage. positive: the passage without it. negatives: other
    passages of the book by position, the most similar first.
    """

    document: str
    passage: int
    question: str
    start: int
    end: int
    positive: str
    negatives: list[int]


class MutualInformation:
    """How much more often each book has a word than all books together: ln(p(w | b) / p(w)).

    Estimated on all the words of the books, stop words and all; with one book alone it is 0 for
    every word.
    """

    def __init__(self, books: Iterable[RankedBook] = ()) -> None:
        """Count the words of every book once."""
        self._of_all: Counter[str] = Counter()
        self._n_of_all = 0
        for book in books:
            self.add(book)

    def add(self, book: RankedBook) -> None:
        """Count the words of one more book."""
        for passage in book.words:
            self._of_all.update(passage)
            self._n_of_all += len(passage)

    def within(self, book: RankedBook) -> Callable[[str], float]:
        """Return what tells a word's pointwise mutual information with a book that was added."""
        counts = Counter(word for passage in book.words for word in passage)
        n_of_book = counts.total()

        def information(word: str) -> float:
            return math.log(counts[word] * self._n_of_all / (n_of_book * self._of_all[word]))

        return information


def pseudo_questions(
    book: RankedBook, information: MutualInformation, numbers: RankingTable
) -> Iterator[PseudoQuestion]:
    """Yield for each passage its most telling sentence; none where no sentence can be one."""
    stop_words = frozenset(pipeline(book.language).Defaults.stop_words)
    nearest, telling = _Nearest(book.words), information.within(book)
    for place, passage in enumerate(book.passages):
        best = best_sentence(passage, book.language, telling, stop_words, numbers.cloze_min_words)
        if best is None:
            continue
        start, end = best
        sentence = passage[start:end]
        rest = " ".join(f"{passage[:start].rstrip()} {passage[end:].lstrip()}".split(" ")).strip()
        if not words(rest):
            continue
        yield PseudoQuestion(
            book.document,
            place,
            sentence,
            start,
            end,
            rest,
            nearest.to(words(sentence), place, numbers.cloze_negatives),
        )


def best_sentence(
    passage: str,
    language: str,
    information: Callable[[str], float],
    stop_words: frozenset[str],
    least: int,
) -> tuple[int, int] | None:
    """Return the sentence with the highest sum of its words' information with the book.

    Punctuation and stop words count for nothing. A sentence has `least` other words or more and is
    no stage direction. Of equal ones the first; None where there is none.
    """
    best: tuple[float, tuple[int, int]] | None = None
    for start, end in split(passage, language):
        sentence = passage[start:end]
        telling = [word for word in words(sentence) if word not in stop_words]
        if len(telling) < least or is_stage_direction(sentence):
            continue
        score = sum(map(information, telling))
        if best is None or score > best[0]:
            best = score, (start, end)
    return best[1] if best else None


def is_stage_direction(sentence: str) -> bool:
    """Return whether a sentence tells how a scene is set: capitals, or all of it in brackets."""
    return sentence.isupper() or bool(_BRACKETED.fullmatch(sentence))


class _Nearest:
    """The passages of a book by tf-idf: cosine of tf × (ln((1 + N) / (1 + n)) + 1)."""

    def __init__(self, passages: Sequence[Sequence[str]]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer: Any = TfidfVectorizer(analyzer=list)
        self._weights = self._vectorizer.fit_transform(passages)

    def to(self, sentence: Sequence[str], source: int, most: int) -> list[int]:
        """Return the most similar passages, best first, the source left out."""
        import numpy

        scores = (self._weights @ self._vectorizer.transform([sentence]).T).toarray().ravel()
        order = numpy.argsort(-scores, kind="stable")
        return [int(one) for one in order if one != source][:most]


def as_json(one: PseudoQuestion) -> Mapping[str, object]:
    """Return a line of the training file."""
    return {
        "document_id": one.document,
        "passage": one.passage,
        "question": one.question,
        "positive": one.positive,
        "negatives": one.negatives,
    }


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
