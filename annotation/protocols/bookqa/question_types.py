"""How well a question's words tell its type: a light classifier, cross-validated (Book QA 6.3).

Each fold is tested once; another, drawn, is its development fold, on which the strength of the
classifier is chosen, and the rest are learnt from. The paper fine-tunes RoBERTa; ours is a linear
support vector machine on the tf-idf of words, pairs of words and triples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from annotation.tables.table import Cell, Table, share

if TYPE_CHECKING:
    from annotation.protocols.bookqa.parameters import ReportTable

MODEL = "a linear support vector machine on words, pairs and triples of words"
TOKEN = r"\w+|[^\w\s]"
LEVEL = 0.95
# What the paper's RoBERTa reaches on its thousand questions: train, dev and test.
PAPER = {"train": 1.0, "dev": 0.734, "test": 0.702}

Items = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ClassifierResult:
    """What came of it: accuracies, each the mean over folds, and who is taken for whom.

    table: int[n_labels, n_labels], rows the labels given by people, columns the predicted ones.
    most_frequent: the share of the most frequent label, what guessing it would reach.
    """

    labels: tuple[str, ...]
    accuracies: dict[str, float]
    table: Any
    most_frequent: float


@lru_cache(maxsize=8)
def cross_validated(
    items: Items, labels: tuple[str, ...], folds: int, strengths: tuple[float, ...], seed: int
) -> ClassifierResult:
    """Return how well (question, label) pairs are told apart; the same for the same seed.

    Expects at least two labels among the items, and no fewer items than folds.
    """
    import numpy

    texts = [text for text, _ in items]
    codes = numpy.array([labels.index(label) for _, label in items])
    reached = [
        _one_fold(texts, codes, parts, strengths) for parts in folds_of(len(items), folds, seed)
    ]
    return result_of(codes, labels, folds_of(len(items), folds, seed), reached)


def folds_of(number: int, folds: int, seed: int) -> list[tuple[Any, Any, Any]]:
    """Return for each fold the places of train, of another fold, drawn, for dev, and of test."""
    import numpy

    rng = numpy.random.default_rng(seed)
    parts = numpy.array_split(rng.permutation(number), folds)
    found = []
    for place, test in enumerate(parts):
        others = [other for other in range(folds) if other != place]
        dev_place = int(rng.choice(others))
        train = numpy.concatenate([parts[other] for other in others if other != dev_place])
        found.append((train, parts[dev_place], test))
    return found


def result_of(
    codes: Any,
    labels: tuple[str, ...],
    folds: Sequence[tuple[Any, Any, Any]],
    reached: Sequence[tuple[Sequence[float], Any]],
) -> ClassifierResult:
    """Return what came of all folds; reached: accuracies of train, dev, test, and test's codes."""
    import numpy

    table = numpy.zeros((len(labels), len(labels)), dtype=int)
    for (_, _, test), (_, predicted) in zip(folds, reached, strict=True):
        numpy.add.at(table, (codes[test], predicted), 1)
    means = (float(each) for each in numpy.mean([each for each, _ in reached], axis=0))
    most = float(numpy.bincount(codes).max() / len(codes))
    return ClassifierResult(labels, dict(zip(PAPER, means, strict=True)), table, most)


def _one_fold(
    texts: Sequence[str], codes: Any, parts: Sequence[Any], strengths: Sequence[float]
) -> tuple[list[float], Any]:
    """Return the accuracies on train, dev and test, and what is predicted for test."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    words = TfidfVectorizer(ngram_range=(1, 3), token_pattern=TOKEN, sublinear_tf=True)
    train, dev, test = parts
    seen = {"train": words.fit_transform([texts[place] for place in train])}
    seen |= {
        name: words.transform([texts[place] for place in part])
        for name, part in (("dev", dev), ("test", test))
    }
    if len(set(codes[train])) < 2:
        # All that is learnt from has one label: there is nothing to fit.
        predicted = {
            name: codes[train][:1].repeat(vectors.shape[0]) for name, vectors in seen.items()
        }
    else:
        fitted = [
            LinearSVC(C=strength, random_state=0).fit(seen["train"], codes[train])
            for strength in strengths
        ]
        best = max(fitted, key=lambda model: model.score(seen["dev"], codes[dev]))
        predicted = {name: best.predict(vectors) for name, vectors in seen.items()}
    pairs = zip(seen, parts, strict=True)
    right = [float((predicted[name] == codes[part]).mean()) for name, part in pairs]
    return right, predicted["test"]


def tables_of(
    items: Sequence[tuple[str, str]],
    labels: Sequence[str],
    numbers: "ReportTable",
    *,
    to_do: str,
) -> list[Table]:
    """Return the accuracies, the confusion and the major errors (Figure 7).

    items: each question with its type; to_do: how to label, said in the only table where too few
    are.
    """
    titles = {
        "question_types": "Question types told by words (6.3, Figure 7 of the Book QA paper)",
        "question_types_confusion": "Question types taken for one another",
        "question_types_errors": "Major errors of question types (Figure 7 of the Book QA paper)",
    }
    n_types = len({label for _, label in items})
    if len(items) < numbers.min_items or n_types < 2:
        said = f"{len(items):,} questions of {n_types:,} types are labelled; it takes "
        said += f"{numbers.min_items:,} of two types to learn from them. {to_do}"
        return [Table("question_types", titles["question_types"], [], [], said)]
    strengths = tuple(numbers.strengths)
    found = cross_validated(tuple(items), tuple(labels), numbers.folds, strengths, numbers.seed)
    note = (
        f"{numbers.folds}-fold cross-validation on {len(items):,} labelled questions by {MODEL}; "
        f"folds drawn with seed {numbers.seed}."
    )
    parts = (_accuracies(found, len(items), note), _confusion(found), _errors(found, numbers))
    return [
        Table(name, title, columns, rows, said, shaded_from=shaded)
        for (name, title), (columns, rows, said, shaded) in zip(titles.items(), parts, strict=True)
    ]


Part = tuple[list[str], list[list[Cell]], str, int | None]


def _accuracies(found: ClassifierResult, number: int, note: str) -> Part:
    from scipy.stats import binomtest

    right = int(found.table.trace())
    interval = binomtest(right, number).proportion_ci(LEVEL, method="wilson")
    told = f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %"
    rows: list[list[Cell]] = [
        [name, found.accuracies[name], told if name == "test" else "", paper]
        for name, paper in PAPER.items()
    ]
    rows.append(["the most frequent type, always", found.most_frequent, "", None])
    note += " The paper's are RoBERTa's on 1,000 questions of its own labelling."
    return ["on", "right share", "95 % interval", "the paper's share"], rows, note, None


def _confusion(found: ClassifierResult) -> Part:
    rows: list[list[Cell]] = [
        [label, int(counts.sum()), *(share(int(n), int(counts.sum())) for n in counts)]
        for label, counts in zip(found.labels, found.table, strict=True)
        if counts.sum()
    ]
    note = "Of the questions of a row's type, in per cent, those that are taken for each type."
    return ["type", "questions", *found.labels], rows, note, 2


def _errors(found: ClassifierResult, numbers: "ReportTable") -> Part:
    """Return the wrong types that make more than a share of a type's errors, the most first."""
    rows: list[list[Cell]] = []
    for place, (label, counts) in enumerate(zip(found.labels, found.table, strict=True)):
        wrong = int(counts.sum() - counts[place])
        for other in sorted(range(len(counts)), key=lambda other: -counts[other]):
            number = int(counts[other])
            if other != place and wrong and number / wrong > numbers.major_error:
                rows.append([label, wrong, found.labels[other], number, number / wrong])
    note = f"Wrong types that make more than {100 * numbers.major_error:g} % of a type's errors."
    return ["type", "errors", "taken for", "questions", "share"], rows, note, None
