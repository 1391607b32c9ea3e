"""The built-in reader: boosted trees over lexical, positional and overlap features of spans."""

import math
import pickle
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.metrics.squad import answer_tokens
from annotation.readers import features
from annotation.readers.example import YES_NO, Example, Examples, Prediction
from annotation.readers.features import QuestionFeatures, plain_title
from annotation.readers.reader import Tell, silent
from annotation.readers.words import TOKEN, content

if TYPE_CHECKING:
    import numpy


SPAN, YES, NO = range(3)
AUXILIARIES = "is are was were do does did has have had can could will would".split()
MARKS = ("both", "same", "either", "or", "and", "also", "more", "than", "which", "who", "what")
N_FEATURES = 8 + len(MARKS)


def question_features(example: Example, asked: QuestionFeatures) -> "numpy.ndarray":
    """Return the row of features of one question; the first column is its auxiliary's number."""
    import numpy

    words = [word.lower() for word in TOKEN.findall(example.question)]
    known = [content(f"{text.title}\n{text.text}") for text in example.texts]
    both = set.intersection(*known) if known else set()
    starts = [
        content(text.text[slice(*text.sentences[0])]) if text.sentences else set()
        for text in example.texts
    ]
    alike = set.intersection(*starts) if starts else set()
    row = numpy.zeros(N_FEATURES, dtype=numpy.float32)
    first = words[0] if words else ""
    row[0] = AUXILIARIES.index(first) + 1 if first in AUXILIARIES else 0
    row[1] = len(words)
    row[2] = sum(plain_title(text.title) in asked.text for text in example.texts)
    row[3] = sum(weight for each, weight in asked.weights.items() if each in both)
    row[4] = sum(
        weight for each, weight in asked.weights.items() if not any(each in one for one in known)
    )
    row[5] = len(alike) / (len(set().union(*starts)) or 1)
    row[6] = sum(weight for each, weight in asked.weights.items() if each in alike)
    row[7] = len(asked.weights)
    row[8:] = [mark in words for mark in MARKS]
    return row


BATCH = 200
# Wrong candidates to learn from, per question; fewer where there are many questions.
MOST_WRONG = 24
MOST_ROWS = 1_200_000
_KINDS = {"yes": YES, "no": NO}


class LightReader:
    """Answers with the best candidate span of the texts, or with yes or no."""

    def __init__(self) -> None:
        self.n_texts = 0
        self.frequency: Counter[str] = Counter()
        self.vocabulary: dict[str, int] = {}
        self.spans = Trees(features.CATEGORIES)
        self.kinds = Trees([0])

    def fit(self, examples: Examples, rng: random.Random, tell: Tell = silent) -> None:
        """Learn which words are frequent, then which candidates and kinds are right."""
        self._count(examples)
        self._learn_kinds(examples, rng)
        self._learn_spans(examples, rng, tell)

    def predict(self, examples: Iterable[Example], tell: Tell = silent) -> Iterator[Prediction]:
        """Yield the answers in order."""
        iterator = iter(examples)
        done = 0
        while batch := list(islice(iterator, BATCH)):
            yield from self._predict(batch)
            done += len(batch)
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

    def _count(self, examples: Examples) -> None:
        words: Counter[str] = Counter()
        for example in examples:
            for text in example.texts:
                self.n_texts += 1
                self.frequency.update(content(text.text))
                words.update(word.lower() for word in TOKEN.findall(text.text))
        # Counted alike, words are told apart by the alphabet, not by who came first.
        frequent = sorted(words, key=lambda word: (-words[word], word))
        known = frequent[: features.KNOWN_WORDS]
        self.vocabulary = {word: number for number, word in enumerate(known, start=1)}

    def _asked(self, example: Example) -> features.QuestionFeatures:
        return features.read_question(example.question, self._weight)

    def _weight(self, stem: str) -> float:
        return math.log((self.n_texts + 2) / (self.frequency[stem] + 1))

    def _learn_kinds(self, examples: Examples, rng: random.Random) -> None:
        import numpy

        rows, kinds = [], []
        for example in examples:
            rows.append(question_features(example, self._asked(example)))
            kinds.append(_KINDS.get(example.answer, SPAN))
        self.kinds.fit(numpy.array(rows), numpy.array(kinds), rng)

    def _learn_spans(self, examples: Examples, rng: random.Random, tell: Tell) -> None:
        import numpy

        n_wrong = min(MOST_WRONG, max(4, MOST_ROWS // max(1, len(examples))))
        kept, right = [], []
        for done, example in enumerate(examples):
            if done % BATCH == 0:
                tell("Reading", done, len(examples))
            if example.answer in YES_NO:
                continue
            answers, rows = features.spans(example, self._asked(example), self.vocabulary)
            gold = answer_tokens(example.answer)
            good = [at for at, answer in enumerate(answers) if answer_tokens(answer) == gold]
            if not good:
                continue
            wrong = sorted(set(range(len(answers))) - set(good))
            drawn = good + sorted(rng.sample(wrong, min(n_wrong, len(wrong))))
            kept.append(rows[drawn])
            right += [1] * len(good) + [0] * (len(drawn) - len(good))
        tell("Learning", len(examples), len(examples))
        table = numpy.concatenate(kept) if kept else numpy.empty((0, features.N_FEATURES))
        self.spans.fit(table, numpy.array(right, dtype=numpy.int64), rng)

    def _predict(self, batch: list[Example]) -> Iterator[Prediction]:
        import numpy

        asked = [self._asked(example) for example in batch]
        found = [
            features.spans(example, one, self.vocabulary)
            for example, one in zip(batch, asked, strict=True)
        ]
        scores = self.spans.scores(numpy.concatenate([rows for _, rows in found]))
        ends = numpy.cumsum([len(rows) for _, rows in found])
        own = numpy.split(scores, ends[:-1])
        kinds = self.kinds.probabilities(
            numpy.array([question_features(*pair) for pair in zip(batch, asked, strict=True)]),
            len(YES_NO) + 1,
        )
        for example, (answers, _), score, kind in zip(batch, found, own, kinds, strict=True):
            answer, probability = _best(answers, score, kind)
            loss = round(-math.log(max(probability, 1e-12)), 6)
            yield Prediction(example.key, answer, max(loss, 0.0))


def _best(answers: list[str], scores: "numpy.ndarray", kinds: "numpy.ndarray") -> tuple[str, float]:
    """Return the most probable answer and how probable it is; equal words add up."""
    import numpy

    shares: dict[str, float] = {}
    said: dict[str, str] = {}
    if len(answers):
        weights = numpy.exp(scores - scores.max())
        for answer, weight in zip(answers, weights / weights.sum(), strict=True):
            name = " ".join(answer_tokens(answer))
            said.setdefault(name, answer)
            shares[name] = shares.get(name, 0.0) + float(weight)
    ranked = {
        "yes": float(kinds[YES]),
        "no": float(kinds[NO]),
    }
    best = max(shares, key=shares.__getitem__, default=None)
    of_kind = float(kinds[SPAN])
    if best is not None and of_kind >= max(ranked.values()):
        return said[best], of_kind * shares[best]
    answer = max(ranked, key=ranked.__getitem__)
    return answer, ranked[answer]


# Ours: enough for the features here; more trees cost time and answer no more questions.
SETTINGS = {
    "max_iter": 80,
    "learning_rate": 0.12,
    "max_leaf_nodes": 24,
    "min_samples_leaf": 20,
    "early_stopping": False,
}


class Trees:
    """A classifier; with fewer than two classes to learn from it says how frequent they were."""

    def __init__(self, categories: list[int]) -> None:
        self.categories = categories
        self.model: Any = None
        self.classes: list[int] = []

    def fit(self, rows: "numpy.ndarray", classes: "numpy.ndarray", rng: random.Random) -> None:
        """Learn `classes`, one of each row."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        seed = rng.getrandbits(32)
        self.classes = sorted({int(each) for each in classes})
        if len(self.classes) < 2:
            return
        self.model = HistGradientBoostingClassifier(
            categorical_features=self.categories, random_state=seed, **SETTINGS
        )
        with threadpool_limits(1):
            self.model.fit(rows, classes)

    def scores(self, rows: "numpy.ndarray") -> "numpy.ndarray":
        """Return each row's log-odds of the second of two classes; zeros where nothing is known."""
        import numpy
        from threadpoolctl import threadpool_limits

        if self.model is None or not len(rows):
            return numpy.zeros(len(rows))
        with threadpool_limits(1):
            found: numpy.ndarray = self.model.decision_function(rows)
        return found

    def probabilities(self, rows: "numpy.ndarray", n_classes: int) -> "numpy.ndarray":
        """Return rows × n_classes probabilities; a class never seen keeps a small one."""
        import numpy
        from threadpoolctl import threadpool_limits

        found = numpy.full((len(rows), n_classes), 1e-4)
        if self.model is None:
            found[:, self.classes or [0]] = 1.0
        else:
            with threadpool_limits(1):
                found[:, self.classes] += self.model.predict_proba(rows)
        shares: numpy.ndarray = found / found.sum(axis=1, keepdims=True)
        return shares
