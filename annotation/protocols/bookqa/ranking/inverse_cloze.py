"""Pseudo-questions of a passage's own sentences: the inverse cloze task (Book QA 4.2, B)."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.ranking.books import RankedBook
from annotation.protocols.bookqa.ranking.coverage import words
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
