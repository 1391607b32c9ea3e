"""Passages ranked for questions: BM25, and what they hold of the answers (Book QA 4.2, 5.2)."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from annotation.metrics.generated_text import ROUGE_BETA, paired_bootstrap
from annotation.protocols.bookqa.export import question_ids
from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.question_labels import NOTE, Labels, called, label_groups
from annotation.protocols.bookqa.question_labels import PAPER as BY_LABEL
from annotation.tables.table import Cell, Table
from collector.code_points import CodePoints
from collector.models import Book, Corpus

MACHINE_BITS = 63
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the words in lower case; whatever is neither letter nor number parts them.

    Footnote 7 of the paper: lower case, no punctuation. A hyphen and an apostrophe part words, as
    in the tokens of the published answers, and the underscores of emphasis in plain texts go.
    """
    return _WORD.findall(text.lower())


class Held(NamedTuple):
    """What a passage holds of an answer: ROUGE-L of its best span, 0 to 1, and if it has it all."""

    rouge_l: float
    is_there: bool


def held(passage: Sequence[str], answers: Sequence[Sequence[str]]) -> Held:
    """Return what a passage holds of the answer that it holds most of.

    A span has as many words as the answer, so that its precision, recall and F are one number; a
    passage that is shorter is one span. An answer without words is held by none.
    """
    found = [_held_of(passage, answer) for answer in answers if answer and passage]
    if not found:
        return Held(0.0, False)
    return Held(max(one.rouge_l for one in found), any(one.is_there for one in found))


def words_with_places(text: str) -> list[tuple[str, int, int]]:
    """Return the words of `words` with where each begins and ends in the text."""
    return [(found[0].lower(), found.start(), found.end()) for found in _WORD.finditer(text)]


def best_spans(passage: Sequence[str], answer: Sequence[str]) -> tuple[float, int, list[int]]:
    """Return ROUGE-L of the best spans of the answer's length, that length, and their starts.

    The starts in order; none where no word is shared.
    """
    if not answer or set(answer).isdisjoint(passage):
        return 0.0, 0, []
    length, places, shared = _shared(passage, answer)
    most = max(shared)
    starts = [place for place, number in zip(places, shared, strict=True) if number == most]
    return _f(most, length, len(answer)), length, starts


def _held_of(passage: Sequence[str], answer: Sequence[str]) -> Held:
    if set(answer).isdisjoint(passage):
        return Held(0.0, False)
    length, _, shared = _shared(passage, answer)
    most = max(shared)
    return Held(_f(most, length, len(answer)), most == len(answer))


def _f(shared: int, length: int, n_answer: int) -> float:
    precision, recall = shared / length, shared / n_answer
    return (1 + ROUGE_BETA**2) * precision * recall / (recall + ROUGE_BETA**2 * precision)


def _shared(passage: Sequence[str], answer: Sequence[str]) -> tuple[int, list[int], list[int]]:
    """Return the length of spans, the starts of those that share a word, how much each shares."""
    import numpy

    place = {word: at for at, word in enumerate(dict.fromkeys(answer))}
    text = numpy.array([place.get(word, -1) for word in passage])
    length = min(len(answer), len(passage))
    spans = numpy.lib.stride_tricks.sliding_window_view(text, length)
    # Only spans that share a word can share a sequence.
    starts = numpy.flatnonzero((spans >= 0).any(axis=1))
    return length, starts.tolist(), _longest_common(spans[starts], [place[word] for word in answer])


def _longest_common(spans: Any, target: Sequence[int]) -> list[int]:
    """Return the length of the longest common subsequence of `target` and each row.

    All rows at once, a bit for each word of the target (Hyyrö 2004): the cost is linear in words.
    """
    import numpy

    whole = (1 << len(target)) - 1
    # The last one, at -1, is of words that are not in the target.
    masks = [0] * (max(target) + 2)
    for at, word in enumerate(target):
        masks[word] |= 1 << at
    # Python's own integers where a target has more words than a machine word has bits.
    kind = numpy.uint64 if len(target) < MACHINE_BITS else object
    of_word = numpy.array(masks, dtype=kind)
    bits = of_word.dtype.type(whole) if kind is numpy.uint64 else whole
    rows = numpy.full(len(spans), whole, dtype=kind)
    for column in spans.T:
        met = rows & of_word[column]
        rows = ((rows + met) | (rows - met)) & bits
    return [len(target) - int(row).bit_count() for row in rows]


class Bm25:
    """Scores passages by the words that they share with a question.

    Lucene's variant: idf = ln(1 + (N - n + .5) / (n + .5)), never negative, times
    f / (f + k1 (1 - b + b L / A)), without the factor k1 + 1, which changes no order. f: how often
    the word stands in the passage; n: in how many of the N passages; L: the passage's length; A:
    the mean length. A word of the question counts as often as it stands there.
    """

    def __init__(self, passages: Sequence[Sequence[str]], k1: float, b: float) -> None:
        """Weigh every word of every passage once: linear in their words."""
        import numpy
        from scipy.sparse import csr_array

        self.n_passages = len(passages)
        self._number: dict[str, int] = {}
        words = [
            self._number.setdefault(word, len(self._number)) for one in passages for word in one
        ]
        lengths = numpy.array([len(one) for one in passages], dtype=float)
        places = numpy.repeat(numpy.arange(len(passages)), lengths.astype(int))
        counts = csr_array(
            (numpy.ones(len(words)), (words, places)), shape=(len(self._number), len(passages))
        )
        counts.sum_duplicates()
        found = numpy.diff(counts.indptr)
        idf = numpy.log(1 + (len(passages) - found + 0.5) / (found + 0.5))
        mean = lengths.mean() if lengths.any() else 1.0
        lengthy = k1 * (1 - b + b * lengths[counts.indices] / mean)
        weights = numpy.repeat(idf, found) * counts.data / (counts.data + lengthy)
        self._weights = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)

    def scores(self, question: Sequence[str]) -> Any:
        """Return float[n_passages]; a word that no passage has adds nothing."""
        import numpy

        known = [self._number[word] for word in question if word in self._number]
        total = numpy.zeros(self.n_passages)
        for number in known:
            start, end = self._weights.indptr[number : number + 2]
            total[self._weights.indices[start:end]] += self._weights.data[start:end]
        return total

    def best(self, question: Sequence[str], most: int) -> list[int]:
        """Return the passages of the highest scores, best first, equal ones in the book's order."""
        import numpy

        return [int(one) for one in numpy.argsort(-self.scores(question), kind="stable")[:most]]


@dataclass(frozen=True)
class Question:
    """A question about a book with its answers; the id follows from the book and the words."""

    id: str
    text: str
    answers: tuple[str, ...]

    @cached_property
    def words(self) -> list[str]:
        """Return the words of the question."""
        return words(self.text)

    @cached_property
    def answer_words(self) -> list[list[str]]:
        """Return the words of each answer."""
        return [words(answer) for answer in self.answers]


@dataclass(frozen=True)
class RankedBook:
    """A book's passages in order, and what is asked about it; `set` as published, or blank."""

    document: str
    set: str
    passages: Sequence[str]
    questions: Sequence[Question]
    language: str = "en"
    places: Sequence[tuple[int, int]] = field(default_factory=list)

    @cached_property
    def words(self) -> list[list[str]]:
        """Return the words of each passage."""
        return [words(passage) for passage in self.passages]


def books_of(corpus: Corpus, *, asked_only: bool = True) -> Iterator[RankedBook]:
    """Yield the books one at a time, by their documents; those without questions unless told."""
    rows = Book.objects.filter(corpus=corpus).defer("front", "back")
    rows = rows.order_by(CodePoints("document"))
    if asked_only:
        rows = rows.filter(questions__isnull=False).distinct()
    for book in rows.prefetch_related("passages", "questions").iterator(chunk_size=1):
        places = [(one.start, one.end) for one in book.passages.all()]
        yield RankedBook(
            book.document,
            book.set,
            [book.text[start:end] for start, end in places],
            _questions(book),
            corpus.language,
            places,
        )


def _questions(book: Book) -> list[Question]:
    rows = book.questions.all()
    ids = question_ids((book.document, row.text) for row in rows)
    return [
        Question(name, row.text, tuple(row.answers)) for name, row in zip(ids, rows, strict=True)
    ]


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


@dataclass(frozen=True)
class Labelled:
    """Passages of the question's book by position: in order, those to learn as right and wrong.

    left_out: of what was drawn as right and as wrong, what the filter by ROUGE-L has left out.
    """

    question: str
    document: str
    positives: list[int]
    negatives: list[int]
    left_out: tuple[list[int], list[int]]


def label(one: Ranked, numbers: RankingTable, rng: random.Random) -> Labelled:
    """Return the labels of one question.

    Right may be what is retrieved by the question and also by question and answers, wrong the rest
    of what either retrieves. So many wrong ones are drawn that there are `sigma` right ones to
    each. Of those the right ones stay whose best span of the answer's length has ROUGE-L above
    `alpha`, the wrong ones with less than `beta`.
    """
    by_question, by_both = set(one.bm25[: numbers.depth]), set(one.oracle[: numbers.depth])
    right = sorted(by_question & by_both)
    rest = sorted(by_question ^ by_both)
    wrong = rng.sample(rest, min(len(rest), round(len(right) / numbers.sigma)))

    def similarity(passage: int) -> float:
        return held(one.book.words[passage], one.question.answer_words).rouge_l

    positives = [passage for passage in right if similarity(passage) > numbers.alpha]
    negatives = sorted(passage for passage in wrong if similarity(passage) < numbers.beta)
    left_out = sorted({*right} - {*positives}), sorted({*wrong} - {*negatives})
    return Labelled(one.question.id, one.book.document, positives, negatives, left_out)


# The paper's own figures on the dev set: presence and ROUGE-L in per cent, by how many passages
# (5.2, Table 2 and the paragraph below it).
PAPER = {
    (BM25, 3): (15.75, 43.44),
    (BM25, 5): (18.99, 47.48),
    (BM25, 10): (24.08, 53.55),
    (UPPERBOUND, 32): (30.81, 61.40),
    (ORACLE, 5): (35.75, 63.92),
}


COLUMNS = (
    *("ranker", "passages", "EM share", "95 %", "p", "paper's EM"),
    *("ROUGE-L share", "95 %", "p", "paper's ROUGE-L"),
)


SEED = 0


# Of means: how many drawn sets of questions tell an interval, and how many are held at a time.
DRAWS, CHUNK = 2_000, 100


LOW, HIGH = 2.5, 97.5


class Coverage:
    """What each ranker's first passages hold, question by question."""

    def __init__(self, rankers: Sequence[str], at: Sequence[int]) -> None:
        """Begin with no question."""
        self.rankers, self.at = rankers, at
        self.questions: list[str] = []
        self._rows: dict[tuple[str, int], list[tuple[float, float]]] = {
            (ranker, most): [] for ranker in rankers for most in at
        }

    def add(self, one: Ranked) -> None:
        """Add one question."""
        self.questions.append(one.question.id)
        for key, held in covered(one, self.rankers, self.at).items():
            self._rows[key].append((float(held.is_there), held.rouge_l))

    def of(self, ranker: str, most: int) -> Any:
        """Return float[n_questions, 2]: presence and ROUGE-L."""
        import numpy

        return numpy.array(self._rows[ranker, most])


def table_of(coverage: Coverage, numbers: RankingTable) -> Table:
    """Return the table: shares with intervals of 95 %, p of being no better than BM25."""
    rows = []
    for most in coverage.at:
        for ranker in coverage.rankers:
            if ranker != UPPERBOUND:
                rows.append([ranker, most, *_cells(coverage, ranker, most, numbers)])
    # It takes all passages, however many the others take: it is held against most of them.
    most = max(coverage.at)
    rows.append([UPPERBOUND, numbers.depth, *_cells(coverage, UPPERBOUND, most, numbers)])
    n_questions = len(coverage.of(BM25, most))
    size = min(numbers.bootstrap_size, n_questions)
    return Table(
        "rankers",
        f"Answers in the first passages, of {n_questions:,} questions (Table 2 of the paper)",
        COLUMNS,
        rows,
        note=(
            f"All but the oracle choose from BM25's first {numbers.depth} passages. p: the share "
            f"of {numbers.bootstrap_subsets:,} subsets of {size:,} questions, drawn with "
            "replacement, in which a ranker is not better than BM25. The paper's figures are of "
            "its dev set."
        ),
    )


def table_by_label(
    coverage: Coverage, numbers: RankingTable, labels: Labels, n_simulated: int = 0
) -> Table:
    """Return ROUGE-L of each ranker's first passages by label (the last column of T5 and T6).

    After `selection_at` passages, or the nearest number that is measured. n_simulated: of how many
    questions the labels are simulated, which its head says.
    """
    most = min(coverage.at, key=lambda number: abs(number - numbers.selection_at))
    values = {ranker: coverage.of(ranker, most)[:, 1] for ranker in coverage.rankers}
    rows: list[list[Cell]] = [
        [
            called(*label),
            len(places),
            len(places) / whole,
            BY_LABEL[label].share,
            *(float(each[places].mean()) for each in values.values()),
            BY_LABEL[label].ranker,
        ]
        for label, places, whole in label_groups(labels, coverage.questions)
    ]
    return Table(
        "rankers_by_label",
        "Answers in the first passages by label (Tables 5 and 6 of the Book QA paper)",
        [
            *("label", "questions", "share", "paper's share"),
            *(f"{ranker}: ROUGE-L share" for ranker in values),
            "paper's BERT+ICT: ROUGE-L share",
        ],
        rows,
        f"After {most} passages, the upper bound after all it chooses from; the first share is of "
        f"the {len(labels):,} labelled questions. {NOTE}",
        simulated=f"With simulated labels: of {n_simulated:,} questions." if n_simulated else "",
    )


def _cells(coverage: Coverage, ranker: str, most: int, numbers: RankingTable) -> list[Cell]:
    values = coverage.of(ranker, most)
    p: Sequence[float | None] = [None, None]
    if ranker != BM25:
        p = better(values, coverage.of(BM25, most), numbers)
    paper = PAPER.get((ranker, numbers.depth if ranker == UPPERBOUND else most), (None, None))
    cells: list[Cell] = []
    for at, interval in enumerate(intervals(values)):
        cells += [float(values[:, at].mean()), interval, _p(p[at]), _percent(paper[at])]
    return cells


def better(one: Any, other: Any, numbers: RankingTable) -> list[float]:
    """Return p of `one` being no better than `other` in presence and in ROUGE-L."""
    return paired_bootstrap(
        one,
        other,
        lambda sums: sums,
        SEED,
        subsets=numbers.bootstrap_subsets,
        size=numbers.bootstrap_size,
    )


def intervals(values: Any) -> list[str]:
    """Return by column between which means 95 % of drawn sets of questions lie, in per cent."""
    import numpy

    rng = numpy.random.default_rng(SEED)
    number = len(values)
    means = []
    for _ in range(0, DRAWS, CHUNK):
        drawn = rng.multinomial(number, numpy.full(number, 1 / number), size=CHUNK)
        means.append(drawn @ values / number)
    low, high = numpy.percentile(numpy.concatenate(means), [LOW, HIGH], axis=0)
    return [f"{100 * a:.1f}–{100 * b:.1f}" for a, b in zip(low, high, strict=True)]


def _p(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _percent(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f} %"
