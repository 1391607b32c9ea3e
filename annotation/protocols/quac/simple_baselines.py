"""The paper's baselines that need no more than is installed: each answers turn by turn (QuAC 5)."""

import math
import random
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from annotation.metrics.result import ScoreError
from annotation.metrics.summation import plain_sum
from annotation.metrics.token_overlap import answer_tokens
from annotation.protocols.quac.chunks import Transitions, standard
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.parameters import defaults
from annotation.protocols.quac.scoring import Prediction, threshold_of
from annotation.protocols.quac.turns import Turn, human_f1, system_f1
from collector.ingest.segmentation import split

if TYPE_CHECKING:
    import numpy


@lru_cache(maxsize=64)
def sentences_of(section: str, language: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) of the section's sentences, in code points."""
    return tuple((start, end) for start, end in split(section, language))


def texts_of(section: str, language: str) -> list[str]:
    """Return the sentences of a section as they stand in it."""
    return [section[start:end] for start, end in sentences_of(section, language)]


def gold_sentence(turn: Turn, language: str) -> int | None:
    """Return the place of the sentence with the best F1, the first of equal ones (QuAC 5.2).

    None for an unanswerable question, and where no sentence shares a word with a reference.
    """
    if turn.is_unanswerable:
        return None
    references = turn.references
    scores = [system_f1(text, references) for text in texts_of(turn.section, language)]
    best = max(scores, default=0.0)
    return scores.index(best) if best > 0 else None


Answering = Callable[[Turn], Prediction]
NO_ACT = ""


@dataclass(frozen=True)
class Setting:
    """What a baseline is made from.

    train: the turns of the training file. vectors: those of a file, None for tf-idf.
    """

    train: Sequence[Turn]
    rng: random.Random
    language: str
    vectors: Any = None


def span(text: str) -> Prediction:
    """Return the prediction of a span, or CANNOTANSWER, without dialog acts."""
    return Prediction(text, NO_ACT, NO_ACT)


def random_sentence(setting: Setting) -> Answering:
    """Return what answers with any sentence of the section, or no answer, all equally likely."""

    def answer(turn: Turn) -> Prediction:
        return span(setting.rng.choice([*texts_of(turn.section, setting.language), CANNOT_ANSWER]))

    return answer


def majority(setting: Setting) -> Answering:
    """Return what always answers no answer, with the commonest dialog acts of training."""
    always = Prediction(
        CANNOT_ANSWER,
        _commonest(turn.teacher.affirmation for turn in setting.train),
        _commonest(turn.continuation for turn in setting.train),
    )
    return lambda turn: always


def transition_matrix(setting: Setting) -> Answering:
    """Return what answers with the chunk that most often followed the previous answer's chunk."""
    chunks = standard()
    transitions = Transitions(chunks, setting.train)

    def answer(turn: Turn) -> Prediction:
        return span(chunks.text(turn.section, transitions.likeliest(chunks.of(turn.previous))))

    return answer


def _commonest(labels: Iterable[str]) -> str:
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))


def gold_no_answer_transition_matrix(setting: Setting) -> Answering:
    """Return the transition matrix's answers, but no answer wherever that is gold."""
    otherwise = transition_matrix(setting)
    return lambda turn: span(CANNOT_ANSWER) if turn.is_unanswerable else otherwise(turn)


def gold_sentence_no_answer(setting: Setting) -> Answering:
    """Return what answers with the sentence nearest to the references, or rightly with none."""

    def answer(turn: Turn) -> Prediction:
        best = gold_sentence(turn, setting.language)
        if best is None:
            return span(CANNOT_ANSWER)
        return span(texts_of(turn.section, setting.language)[best])

    return answer


def human(setting: Setting) -> Answering:
    """Return the teacher's own answers.

    Only `human_totals` scores them rightly: the official script would compare them with
    themselves.
    """
    return lambda turn: Prediction(turn.teacher.text, turn.teacher.affirmation, turn.continuation)


def human_totals(turns: Sequence[Turn], min_f1: float | None) -> dict[str, float]:
    """Return the official keys in percent with each reference held out in turn.

    HEQ is 100 by definition. What the files cannot tell of people, their agreement on dialog
    acts, is in the report of a collection.
    """
    threshold = threshold_of(min_f1)
    scores = [human_f1(turn.references) for turn in turns]
    kept = [score for score in scores if score >= threshold]
    found = {"unfiltered_f1": _percent(scores), "HEQ": 100.0, "DHEQ": 100.0}
    if kept:
        found["f1"] = _percent(kept)
    if any(turn.is_unanswerable for turn in turns):
        found["unanswerable_acc"] = 100.0
    return found


def _percent(scores: Sequence[float]) -> float:
    return 100 * plain_sum(scores) / len(scores)


Vector = Mapping[Hashable, float]


class Vectors(Protocol):
    """Anything that gives a text a place; only the cosine of two places is looked at."""

    def of(self, text: str) -> Vector:
        """Return the text's coordinates that are not 0; {} for a text it knows nothing of."""


class Unit:
    """Vectors brought to length 1; those of recent texts are kept, for many are asked again."""

    def __init__(self, vectors: Vectors) -> None:
        @lru_cache(maxsize=4096)
        def of(text: str) -> Vector:
            vector = vectors.of(text)
            length = math.sqrt(math.fsum(value * value for value in vector.values()))
            return {key: value / length for key, value in vector.items()} if length else {}

        self._of = of

    def of(self, text: str) -> Vector:
        """Return the text's coordinates in the vectors' own, divided by their length."""
        return self._of(text)


class TfIdf:
    """Words weighted by how few of the training sections' sentences hold them."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self.holding: Counter[str] = Counter()
        self.n_sentences = 0
        for sentence in sentences:
            self.holding.update(set(words(sentence)))
            self.n_sentences += 1

    def weight(self, word: str) -> float:
        """Return log((1 + N) / (1 + n)) + 1, which is highest for a word never seen."""
        return math.log((1 + self.n_sentences) / (1 + self.holding[word])) + 1

    def of(self, text: str) -> Vector:
        """Return each word's count times its weight."""
        return {word: number * self.weight(word) for word, number in Counter(words(text)).items()}


class FileVectors:
    """Vectors of a file: of whole texts where it has them, else the mean over their words."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors

    def of(self, text: str) -> Vector:
        """Return the text's own vector, or the mean of those of its words."""
        if text in self.vectors:
            return dict(enumerate(self.vectors[text]))
        known = [self.vectors[word] for word in words(text) if word in self.vectors]
        columns = zip(*known, strict=True)
        return {at: math.fsum(column) / len(known) for at, column in enumerate(columns)}


def read_vectors(path: Path, texts: Iterable[str]) -> FileVectors:
    """Return the vectors of `texts` and of their words; the rest of the file is passed over.

    A line is a word or, closed by a tab, a whole text, and then its numbers with blanks between.
    A first line of two numbers, as some tools write it, is no vector. Raises ScoreError naming
    the line.
    """
    wanted = set(texts)
    wanted |= {word for text in wanted for word in words(text)}
    found: dict[str, array[float]] = {}
    size = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                key, _, numbers = line.rstrip("\n").partition("\t" if "\t" in line else " ")
                values = numbers.split()
                if number == 1 and len(values) == 1:
                    continue
                size = size or len(values)
                if not values or len(values) != size:
                    raise ScoreError(f"{path}, line {number}: give a word and {size} numbers.")
                if key in wanted:
                    found[key] = array("f", map(float, values))
    except (OSError, ValueError) as error:
        if isinstance(error, ScoreError):
            raise
        raise ScoreError(f"{path}: vectors cannot be read ({error}); give a text file.") from None
    return FileVectors(found)


def sentence_similarity(setting: Setting) -> Answering:
    """Return what answers with the sentence of the highest cosine to the question, the first."""
    vectors = vectors_of(setting)

    def answer(turn: Turn) -> Prediction:
        question = vectors.of(turn.question)
        texts = texts_of(turn.section, setting.language)
        scores = [cosine(question, vectors.of(text)) for text in texts]
        return span(texts[scores.index(max(scores))] if texts else CANNOT_ANSWER)

    return answer


def vectors_of(setting: Setting) -> Unit:
    """Return the given vectors, else tf-idf over the training sections' sentences, each once."""
    if setting.vectors is not None:
        return Unit(setting.vectors)
    sections = dict.fromkeys(turn.section for turn in setting.train)
    return Unit(
        TfIdf(sentence for section in sections for sentence in texts_of(section, setting.language))
    )


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors of length 1; 0.0 where either is empty."""
    if len(other) < len(one):
        one, other = other, one
    return math.fsum(value * other[key] for key, value in one.items() if key in other)


@lru_cache(maxsize=16_384)
def words(text: str) -> tuple[str, ...]:
    """Return the words as the metrics see them: lower case, no punctuation, no articles."""
    return tuple(answer_tokens(text))


Features = dict[str, float]
# Ours: the paper does not say how long an n-gram is.
LONGEST_NGRAM = 3
# Ours: sentences further from the last answer than this are alike.
FARTHEST = 4


@dataclass(frozen=True)
class Past:
    """What has been said before a question.

    answered: the places of the sentences that held an answer, the latest first.
    """

    answered: tuple[int, ...]
    n_unanswered: int
    question: str
    answer: str
    continuation: str


def candidates(turn: Turn, language: str, vectors: Vectors) -> Iterator[Features]:
    """Yield the features of every sentence in order, then those of answering with none."""
    places = sentences_of(turn.section, language)
    past = past_of(turn, places)
    best: Features = {}
    for at, (start, end) in enumerate(places):
        matching = matches(turn.question, turn.section[start:end], vectors)
        best = {name: max(best.get(name, 0.0), value) for name, value in matching.items()}
        yield {
            **matching,
            **bias(turn, places, at),
            **context(turn, past, places, at, vectors),
        }
    yield none(turn, past, best)


def matches(question: str, text: str, vectors: Vectors) -> Features:
    """Return how much of the question's n-grams the text holds, and how near the two are."""
    found = {"cosine": cosine(vectors.of(question), vectors.of(text))}
    for n in range(1, LONGEST_NGRAM + 1):
        wanted, held = ngrams(question, n), ngrams(text, n)
        found[f"{n}-grams"] = len(wanted & held) / len(wanted) if wanted else 0.0
    return found


def bias(turn: Turn, places: Sequence[tuple[int, int]], at: int) -> Features:
    """Return where the sentence stands and how long it is."""
    start, end = places[at]
    return {
        "sentence": 1.0,
        f"chunk {standard().at(turn.section, start, end)}": 1.0,
        "first": float(at == 0),
        "last": float(at == len(places) - 1),
        "length": math.log1p(len(words(turn.section[start:end]))) / 4,
    }


def context(
    turn: Turn, past: Past, places: Sequence[tuple[int, int]], at: int, vectors: Vectors
) -> Features:
    """Return how the sentence lies to what was said before."""
    start, end = places[at]
    place, time = at / len(places), min(share_of_dialog(turn.number), 1.0)
    found = {
        "behind the dialog": max(time - place, 0.0),
        "ahead of the dialog": max(place - time, 0.0),
        "answered before": float(at in past.answered),
    }
    if past.answered:
        step = max(-FARTHEST, min(FARTHEST, at - past.answered[0]))
        found[f"step {step}"] = 1.0
        found[f"step {step} after {past.continuation}"] = 1.0
    if past.question:
        text = vectors.of(turn.section[start:end])
        found["previous question"] = cosine(vectors.of(past.question), text)
        found["previous answer"] = cosine(vectors.of(past.answer), text) if past.answer else 0.0
    return found


def none(turn: Turn, past: Past, best: Features) -> Features:
    """Return what speaks for no answer: the turn, the past, how little the section matches."""
    asked = words(turn.question)
    found = {
        "none": 1.0,
        "none turn": min(share_of_dialog(turn.number), 1.0),
        "none so far": share_of_dialog(past.n_unanswered),
        "none question length": math.log1p(len(asked)) / 4,
        **{f"none best {name}": value for name, value in best.items()},
    }
    if past.question:
        found[f"none after {'an answer' if past.answer else 'none'}"] = 1.0
        found[f"none after {past.continuation}"] = 1.0
    for n in (1, 2):
        if len(asked) >= n:
            found["none begins " + " ".join(asked[:n])] = 1.0
    return found


def share_of_dialog(number: int) -> float:
    """Return so many questions as a share of those that the longest dialog has."""
    return number / defaults().dialog.max_questions


def past_of(turn: Turn, places: Sequence[tuple[int, int]]) -> Past:
    """Return what was said before the turn, with the teacher's true answers (QuAC 4)."""
    before = list(turn.history())
    starts = [each.teacher.start for each in before]
    last = before[0] if before else None
    said = last.teacher.text if last else CANNOT_ANSWER
    return Past(
        answered=tuple(_sentence_at(places, start) for start in starts if start is not None),
        n_unanswered=starts.count(None),
        question=last.question if last else "",
        answer="" if said == CANNOT_ANSWER else said,
        continuation=last.continuation if last else "",
    )


@lru_cache(maxsize=16_384)
def ngrams(text: str, n: int) -> frozenset[tuple[str, ...]]:
    """Return the distinct n-grams of a text's words."""
    found = words(text)
    return frozenset(found[at : at + n] for at in range(len(found) - n + 1))


def _sentence_at(places: Sequence[tuple[int, int]], start: int) -> int:
    return max(sum(first <= start for first, _ in places) - 1, 0)


# Ours: how strongly weights are drawn to 0, per candidate; the paper's tool has its own default.
PENALTY = 1e-5
MAX_STEPS = 300


class Rows:
    """Candidates' features in a compressed matrix; a name gets its column when first seen."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self.values, self.indices, self.ends = array("d"), array("i"), array("q", [0])

    def add(self, features: Features) -> None:
        """Append one candidate."""
        for name, value in features.items():
            if value:
                self.indices.append(self.columns.setdefault(name, len(self.columns)))
                self.values.append(value)
        self.ends.append(len(self.values))


def logistic_regression(setting: Setting) -> Answering:
    """Return what answers with the candidate of the highest probability, the first of equal ones.

    Each sentence, and answering with none, is a candidate; it is right when it is the gold
    sentence of the teacher's answer.
    """
    vectors = vectors_of(setting)
    rows, right = Rows(), array("d")
    for turn in setting.train:
        best = gold_sentence(turn, setting.language)
        found = list(candidates(turn, setting.language, vectors))
        for at, features in enumerate(found):
            rows.add(features)
            right.append(at == (len(found) - 1 if best is None else best))
    weights = fit(rows, right)

    def answer(turn: Turn) -> Prediction:
        texts = [*texts_of(turn.section, setting.language), CANNOT_ANSWER]
        scores = [
            _score(features, weights) for features in candidates(turn, setting.language, vectors)
        ]
        return span(texts[scores.index(max(scores))])

    return answer


def fit(rows: Rows, right: Sequence[float]) -> dict[str, float]:
    """Return the weight of each feature that minimises the mean loss and the penalty."""
    import numpy
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    if not rows.columns:
        return {}
    shape = (len(right), len(rows.columns))
    matrix = csr_matrix((rows.values, rows.indices, rows.ends), shape=shape)
    sign = 2 * numpy.asarray(right) - 1

    def loss(weights: "numpy.ndarray") -> "tuple[float, numpy.ndarray]":
        margin = sign * (matrix @ weights)
        slope = -sign * numpy.exp(-numpy.logaddexp(0, margin)) / len(sign)
        whole = numpy.logaddexp(0, -margin).mean() + PENALTY / 2 * (weights @ weights)
        return whole, matrix.T @ slope + PENALTY * weights

    start = numpy.zeros(len(rows.columns))
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    return dict(zip(rows.columns, best.x.tolist(), strict=True))


def _score(features: Features, weights: dict[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())
