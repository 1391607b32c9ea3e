"""The built-in reader: ranks pairs of texts, then sentences, then candidates, by weighted sums."""

import math
import pickle
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict

from annotation.metrics.token_overlap import answer_tokens
from readers.light import features, passages, questions
from readers.light.passages import Passages, knowledge, likeliest
from readers.light.questions import Question, read_question
from readers.light.words import content
from readers.reader import YES_NO, Example, Examples, Prediction, Tell, Text, silent

if TYPE_CHECKING:
    import numpy


# Ours: how strongly weights are drawn to nought, and those of one kind to those of all kinds.
PENALTY = 20.0
KIND_PENALTY = 40.0
STEPS = 120
# Of a weight that is stored as text.
DIGITS = 4


class Weights(TypedDict):
    """What was learned, as it is stored; `weights`: of each kind. All empty: nothing."""

    mean: list[float]
    scale: list[float]
    weights: list[list[float]]


@dataclass(frozen=True)
class Choice:
    """What one question has to choose from: a row of features each, and which rows are right.

    left_out: how many wrong rows each wrong one here stands for, where only some were drawn.
    """

    rows: "numpy.ndarray"
    right: "numpy.ndarray"
    kind: int = 0
    left_out: float = 1.0


@dataclass
class Ranking:
    """Weights of features, common to all kinds of questions, and of each kind in particular."""

    kinds: int = 1
    mean: "numpy.ndarray | None" = None
    scale: "numpy.ndarray | None" = None
    weights: "numpy.ndarray | None" = None

    def fit(self, choices: Sequence[Choice]) -> None:
        """Learn the weights that make the right rows probable; choices without any are no help."""
        import numpy
        from scipy.optimize import minimize
        from threadpoolctl import threadpool_limits

        choices = [each for each in choices if each.right.any() and not each.right.all()]
        if not choices:
            return
        # By kind, so that the rows of one kind are one slice.
        choices.sort(key=lambda each: each.kind)
        problem = _Problem(choices, self.kinds)
        self.mean, self.scale = problem.mean, problem.scale
        with threadpool_limits(1):
            found = minimize(
                problem.loss,
                numpy.zeros((self.kinds + 1) * len(problem.mean)),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": STEPS},
            )
        both = found.x.reshape(self.kinds + 1, -1)
        self.weights = both[1:] + both[0]

    def as_json(self) -> Weights:
        """Return what was learned as numbers of a few digits, for `from_json`."""
        if self.weights is None or self.mean is None or self.scale is None:
            return {"mean": [], "scale": [], "weights": []}
        arrays = (self.mean, self.scale, self.weights)
        mean, scale, weights = (each.round(DIGITS).tolist() for each in arrays)
        return {"mean": mean, "scale": scale, "weights": weights}

    @classmethod
    def from_json(cls, told: Weights) -> Self:
        """Return what `as_json` told."""
        import numpy

        weights = numpy.array(told["weights"])
        if not len(weights):
            return cls()
        return cls(len(weights), numpy.array(told["mean"]), numpy.array(told["scale"]), weights)

    def scores(self, rows: "numpy.ndarray", kind: int = 0) -> "numpy.ndarray":
        """Return each row's log-odds up to a constant; zeros where nothing was learned."""
        import numpy

        if self.weights is None or self.mean is None:
            return numpy.zeros(len(rows))
        found: numpy.ndarray = ((rows - self.mean) / self.scale) @ self.weights[kind]
        return found


class _Problem:
    """The penalised likelihood of the right rows, and its slope."""

    def __init__(self, choices: Sequence[Choice], kinds: int) -> None:
        import numpy

        self.rows = numpy.concatenate([each.rows for each in choices]).astype(numpy.float32)
        self.mean = self.rows.mean(axis=0, dtype=numpy.float64)
        self.scale = self.rows.std(axis=0, dtype=numpy.float64)
        self.scale[self.scale < 1e-6] = 1.0
        self.rows -= self.mean.astype(numpy.float32)
        self.rows /= self.scale.astype(numpy.float32)
        sizes = [len(each.right) for each in choices]
        self.starts = numpy.concatenate([[0], numpy.cumsum(sizes)[:-1]])
        self.of = numpy.repeat(numpy.arange(len(sizes)), sizes)
        self.right = numpy.concatenate([each.right for each in choices])
        self.extra = numpy.repeat([each.left_out for each in choices], sizes)
        self.extra[self.right] = 1.0
        counts = numpy.bincount([each.kind for each in choices], sizes, kinds).astype(int)
        ends = numpy.cumsum(counts)
        self.slices = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]

    def loss(self, flat: "numpy.ndarray") -> tuple[float, "numpy.ndarray"]:
        import numpy

        both = flat.reshape(len(self.slices) + 1, -1)
        common, own = both[0], both[1:]
        scores = numpy.concatenate(
            [
                self.rows[part] @ (common + more).astype(numpy.float32)
                for part, more in zip(self.slices, own, strict=True)
            ]
        ).astype(numpy.float64)
        scores -= numpy.maximum.reduceat(scores, self.starts)[self.of]
        masses = numpy.exp(scores) * self.extra
        whole = numpy.add.reduceat(masses, self.starts)
        good = numpy.where(self.right, masses, 0.0)
        of_right = numpy.add.reduceat(good, self.starts) + 1e-12
        left = (masses / whole[self.of] - good / of_right[self.of]).astype(numpy.float32)
        slopes = numpy.empty_like(both)
        for at, part in enumerate(self.slices, start=1):
            slopes[at] = left[part] @ self.rows[part]
        slopes[0] = slopes[1:].sum(axis=0) + PENALTY * common
        slopes[1:] += KIND_PENALTY * own
        penalty = PENALTY * (common**2).sum() + KIND_PENALTY * (own**2).sum()
        return -numpy.log(of_right / whole).sum() + penalty / 2, slopes.ravel()


def shares(scores: "numpy.ndarray") -> "numpy.ndarray":
    """Return how probable each is, adding up to 1."""
    import numpy

    if not len(scores):
        return scores
    masses = numpy.exp(scores - scores.max())
    found: numpy.ndarray = masses / masses.sum()
    return found


BATCH = 200
# Ours: more examples change no weight that matters, and cost time and memory.
MOST_HOPS = 1_000
MOST_EXAMPLES = 4_000
# Rows of candidates at most; of each question all right ones, and some of the others.
MOST_ROWS = 120_000
RANKINGS = ("pairs", "sentences", "forms", "spans")
# Texts; what fewer hold is told by its absence.
FREQUENT = 4
# What is less probable is no answer.
LEAST_SHARE = 1e-4
# Two texts of the released questions make a pair.
PAIR = 2


class Stored(TypedDict):
    """A reader as it is stored: in how many texts each frequent stem is, and its rankings."""

    n_texts: int
    frequency: dict[str, int]
    rankings: dict[str, Weights]


class LightReader:
    """Answers with the best candidate of the texts, or with yes or no.

    Which two texts belong together, which sentences prove the answer and which candidate is
    right are learned one after the other, each from what came before.
    """

    def __init__(self) -> None:
        self.n_texts = 0
        self.frequency: Counter[str] = Counter()
        self.pairs = Ranking()
        self.sentences = Ranking()
        self.forms = Ranking()
        self.spans = Ranking(questions.KINDS)

    def fit(self, examples: Examples, rng: random.Random, tell: Tell = silent) -> None:
        """Learn which words are frequent, then what is right, from the whole to the part."""
        for example in examples:
            self.n_texts += len(example.texts)
            for text in example.texts:
                self.frequency.update(content(text.text))
        some = _drawn(examples, MOST_HOPS, rng)
        self.pairs.fit([self._pair_choice(each) for each in some if len(each.texts) > PAIR])
        self.sentences.fit([self._sentence_choice(each) for each in some])
        many = _drawn(examples, MOST_EXAMPLES, rng)
        n_wrong = MOST_ROWS // max(1, len(many))
        forms, spans = [], []
        for done, example in enumerate(many):
            if done % BATCH == 0:
                tell("Reading", done, len(many))
            asked, read = self._read(example)
            chances, telling = self._hops(read, asked)
            forms.append(_form_choice(example, read, asked, chances))
            if example.answer not in YES_NO:
                found = features.find_spans(read, chances)
                rows = features.features(read, asked, chances, telling, found)
                right = _right(example.answer, found.words)
                spans.append(_some_wrong(rows, right, asked.kind, n_wrong, rng))
        tell("Learning", len(many), len(many))
        self.forms.fit(forms)
        self.spans.fit(spans)

    def predict(self, examples: Iterable[Example], tell: Tell = silent) -> Iterator[Prediction]:
        """Yield the answers in order."""
        for done, example in enumerate(examples, start=1):
            answer, probability = self._answer(example)
            loss = round(-math.log(max(probability, 1e-12)), 6)
            yield Prediction(example.key, answer, max(loss, 0.0))
            if done % BATCH == 0:
                tell("Answering", done, 0)

    def save(self, path: Path) -> None:
        """Write what was learned."""
        path.write_bytes(pickle.dumps(vars(self)))

    @classmethod
    def load(cls, path: Path) -> "LightReader":
        """Return a reader that `save` wrote here."""
        reader = cls()
        vars(reader).update(pickle.loads(path.read_bytes()))
        return reader

    def as_json(self) -> Stored:
        """Return what was learned, but for words that are rare, for `from_json`."""
        known = {stem: n for stem, n in self.frequency.items() if n >= FREQUENT}
        rankings = {name: getattr(self, name).as_json() for name in RANKINGS}
        return {"n_texts": self.n_texts, "frequency": known, "rankings": rankings}

    @classmethod
    def from_json(cls, told: Stored) -> "LightReader":
        """Return the reader that `as_json` told of."""
        reader = cls()
        reader.n_texts, reader.frequency = told["n_texts"], Counter(told["frequency"])
        for name, weights in told["rankings"].items():
            setattr(reader, name, Ranking.from_json(weights))
        return reader

    def answers(self, example: Example) -> dict[str, float]:
        """Return how probable each answer is held, yes and no among them; equal words add up."""
        asked, read = self._read(example)
        chances, telling = self._hops(read, asked)
        span, *of_kind = shares(self.forms.scores(_form_rows(read, asked, chances))).tolist()
        found = features.find_spans(read, chances)
        rows = features.features(read, asked, chances, telling, found)
        of_words: dict[str, float] = {}
        scores = shares(self.spans.scores(rows, asked.kind)).tolist()
        for words, share in zip(found.words, scores, strict=True):
            if share > LEAST_SHARE:
                of_words[words] = of_words.get(words, 0.0) + span * share
        said: dict[str, str] = {}
        held: dict[str, float] = dict(zip(YES_NO, of_kind, strict=True))
        for words, share in of_words.items():
            name = said.setdefault(" ".join(answer_tokens(words)), words)
            held[name] = held.get(name, 0.0) + share
        return held

    def likeliest(self, example: Example) -> tuple[Text, ...]:
        """Return the two texts that most likely answer the question together, in their order."""
        asked, read = self._read(example)
        pair = likeliest(self._chances(read, asked), PAIR)
        return tuple(example.texts[at] for at in sorted(pair.tolist()))

    def _answer(self, example: Example) -> tuple[str, float]:
        """Return the most probable answer of the most probable form, and how probable it is."""
        held = self.answers(example)
        of_span = {words: share for words, share in held.items() if words not in YES_NO}
        of_kind = {words: held[words] for words in YES_NO}
        ranked = of_span if sum(of_span.values()) > max(of_kind.values()) else of_kind
        best = max(ranked, key=ranked.__getitem__)
        return best, ranked[best]

    def _read(self, example: Example) -> tuple[Question, Passages]:
        asked = read_question(example.question, self._weight)
        return asked, passages.read_passages(example.texts, asked)

    def _weight(self, stem: str) -> float:
        return math.log((self.n_texts + 2) / (self.frequency[stem] + 1))

    def _pair_choice(self, example: Example) -> Choice:
        """Return the pairs of texts; right is the one that the facts are in."""
        import numpy

        asked, read = self._read(example)
        one, other, rows = passages.pair_features(read, asked)
        gold = {text for text, _ in example.facts} or _holding(example)
        both = [len(gold & {a, b}) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
        return Choice(rows, numpy.array(both, dtype=int) >= max(1, min(PAIR, len(gold))))

    def _sentence_choice(self, example: Example) -> Choice:
        """Return the sentences; right are the facts, where none are told those with the answer."""
        import numpy

        asked, read = self._read(example)
        rows = passages.sentence_features(read, asked, self._chances(read, asked))
        facts = set(example.facts)
        if facts:
            places = zip(read.of.tolist(), read.number.tolist(), strict=True)
            return Choice(rows, numpy.array([place in facts for place in places], dtype=bool))
        lines = [
            text.text[start:end]
            for text in example.texts
            for start, end in text.sentences or ((0, len(text.text)),)
        ]
        return Choice(rows, numpy.array([_holds(line, example.answer) for line in lines]))

    def _chances(self, read: Passages, asked: Question) -> "numpy.ndarray":
        """Return how probably each text is one of the two that answer the question."""
        import numpy

        n = len(read.texts)
        if n <= PAIR:
            return numpy.ones(n)
        one, other, rows = passages.pair_features(read, asked)
        found = shares(self.pairs.scores(rows))
        return numpy.bincount(one, found, n) + numpy.bincount(other, found, n)

    def _hops(self, read: Passages, asked: Question) -> tuple["numpy.ndarray", "numpy.ndarray"]:
        """Return the chances of the texts, and how much each sentence tells."""
        chances = self._chances(read, asked)
        rows = passages.sentence_features(read, asked, chances)
        return chances, shares(self.sentences.scores(rows))


def _drawn(examples: Examples, most: int, rng: random.Random) -> list[Example]:
    """Return the first examples, in their order, up to a number."""
    if len(examples) <= most:
        return list(examples)
    places = set(rng.sample(range(len(examples)), most))
    return [example for at, example in enumerate(examples) if at in places]


def _some_wrong(
    rows: "numpy.ndarray", right: "numpy.ndarray", kind: int, most: int, rng: random.Random
) -> Choice:
    """Return the right candidates and some of the wrong ones."""
    import numpy

    wrong = numpy.flatnonzero(~right)
    if len(wrong) <= most:
        return Choice(rows, right, kind)
    drawn = numpy.array(sorted(rng.sample(wrong.tolist(), most)), dtype=int)
    kept = numpy.concatenate([numpy.flatnonzero(right), drawn])
    return Choice(rows[kept], right[kept], kind, len(wrong) / most)


def _form_choice(
    example: Example, read: Passages, asked: Question, chances: "numpy.ndarray"
) -> Choice:
    import numpy

    forms = ("", *YES_NO)
    given = example.answer if example.answer in YES_NO else ""
    right = numpy.array([form == given for form in forms])
    return Choice(_form_rows(read, asked, chances), right)


def _form_rows(read: Passages, asked: Question, chances: "numpy.ndarray") -> "numpy.ndarray":
    """Return what speaks for words of a text, for yes and for no: a row of features each."""
    import numpy

    pair = likeliest(chances, PAIR)
    rest = numpy.where(read.titled[pair].any(axis=0), 0.0, asked.weights)
    covered = knowledge(read)[pair] @ (rest / (rest.sum() or 1.0))
    openings = [set(row) for row in passages.definitions(read, read.stems)]
    first = [openings[at] for at in pair] or [set()]
    alike = len(set.intersection(*first)) / (len(set.union(*first)) or 1)
    least = covered.min(initial=1)
    both, same = "both" in asked.words, "same" in asked.words
    either = [1.0, asked.kind == questions.YES_NO, asked.kind == questions.CHOICE, asked.inverted]
    yes = [
        1.0,
        least,
        covered.max(initial=0),
        alike,
        both,
        same,
        least * both,
        alike * same,
        rest.sum(),
    ]
    table = numpy.zeros((3, len(either) + len(yes)))
    table[1:, : len(either)] = either
    table[1, len(either) :] = yes
    table[2, len(either) :] = numpy.negative(yes)
    return table


def _holding(example: Example) -> set[int]:
    """Return the places of the texts that hold the answer."""
    return {at for at, text in enumerate(example.texts) if _holds(text.text, example.answer)}


def _holds(text: str, answer: str) -> bool:
    wanted = " ".join(answer_tokens(answer))
    return answer not in YES_NO and f" {wanted} " in f" {' '.join(answer_tokens(text))} "


def _right(answer: str, said: list[str]) -> "numpy.ndarray":
    import numpy

    gold = answer_tokens(answer)
    right = {words for words in set(said) if answer_tokens(words) == gold}
    return numpy.array([words in right for words in said], dtype=bool)
