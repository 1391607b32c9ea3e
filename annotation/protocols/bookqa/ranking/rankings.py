"""The rankers of the paper's Table 2 that need no training, and others' rankings of the same 32.

BM25 ranks a book's passages for a question; its first passages are what every ranker chooses from.
The upper bound takes all of them, the oracle is BM25 with the answers beside the question.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.ranking.bm25 import Bm25
from annotation.protocols.bookqa.ranking.books import Question, RankedBook
from annotation.protocols.bookqa.ranking.coverage import Held, held

BM25, UPPERBOUND, ORACLE = "BM25", "Upperbound", "Oracle"
# From a question's id to passages, best first.
Ranking = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Ranked:
    """What was found for one question: passages of its book by their position, best first."""

    book: RankedBook
    question: Question
    bm25: list[int]
    oracle: list[int]
    others: dict[str, list[int]] = field(default_factory=dict)

    def chosen(self, ranker: str, most: int) -> list[int]:
        """Return the first `most` passages of a ranker; the upper bound takes all it may."""
        if ranker == UPPERBOUND:
            return self.bm25
        found = {BM25: self.bm25, ORACLE: self.oracle} | self.others
        return found[ranker][:most]


def ranked(
    books: Iterable[RankedBook], numbers: RankingTable, others: Mapping[str, Ranking]
) -> Iterator[Ranked]:
    """Yield what each ranker finds for each question; others: rankings by their names."""
    for book in books:
        index = Bm25(book.words, numbers.k1, numbers.b)
        for question in book.questions:
            yield Ranked(
                book,
                question,
                index.best(question.words, numbers.depth),
                index.best(with_answers(question), numbers.depth),
                {name: list(ranking[question.id]) for name, ranking in others.items()},
            )


def with_answers(question: Question) -> list[str]:
    """Return the words of the question and of all its answers: what the oracle asks by."""
    return [*question.words, *(word for answer in question.answer_words for word in answer)]


def covered(one: Ranked, rankers: Sequence[str], at: Sequence[int]) -> dict[tuple[str, int], Held]:
    """Return what the first passages of each ranker hold of the answer, by (ranker, how many)."""
    known: dict[int, Held] = {}

    def of(passage: int) -> Held:
        if passage not in known:
            known[passage] = held(one.book.words[passage], one.question.answer_words)
        return known[passage]

    found = {}
    for ranker in rankers:
        for most in at:
            of_each = [of(passage) for passage in one.chosen(ranker, most)]
            found[ranker, most] = Held(
                max((each.rouge_l for each in of_each), default=0.0),
                any(each.is_there for each in of_each),
            )
    return found
