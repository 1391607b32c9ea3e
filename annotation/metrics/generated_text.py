"""BLEU, ROUGE-L and METEOR 1.5 of written answers, and whether one system beats another.

BLEU and ROUGE-L are computed as nlg-eval and coco-caption do. METEOR's official program, which is
Java, counts matches; its formula is computed here. Counts of single predictions add up to those of
a corpus, so that the corpus of any subset is known without asking the program again.
"""

import math
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

LONGEST = 4
# What keeps a share from being nought, as the official code adds it above and below.
ABOVE, BELOW = 1e-15, 1e-9

# Words of the prediction, words of the nearest reference; then per length of n-gram how many there
# are, and how many of them a reference has.
Counts = tuple[int, ...]
ROUGE_BETA = 1.2
# The Python package that brings the program and its paraphrases.
PACKAGE, INSIDE = "pycocoevalcap", "meteor/meteor-1.5.jar"
ARGUMENTS = ("-", "-", "-stdio", "-l", "en", "-norm")
# Of a prediction: words and function words of both sides; per module the matched content words
# and function words of both sides; chunks; matched words of both sides.
N_COUNTS, N_MODULES, CHUNKS = 23, 4, 20
# What the program takes for English: of exact, stem, synonym and paraphrase; then its parameters.
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
# Subsets at a time: of ten thousand questions they take a few megabytes.
SUBSETS_AT_ONCE = 100


def bleu_counts(prediction: str, references: Sequence[str]) -> Counts:
    """Return what BLEU counts of one prediction; those of several are added up."""
    words = prediction.split()
    others = [each.split() for each in references]
    nearest = min((abs(len(each) - len(words)), len(each)) for each in others)[1]
    there, shared = [], []
    for n in range(1, LONGEST + 1):
        most: Counter[tuple[str, ...]] = Counter()
        for other in others:
            most |= _grams(other, n)
        found = _grams(words, n)
        there.append(found.total())
        shared.append((found & most).total())
    return (len(words), nearest, *there, *shared)


def bleu(counts: Sequence[float]) -> list[float]:
    """Return BLEU-1 to BLEU-4, 0 to 1, of counts added up over a corpus."""
    words, nearest = counts[:2]
    there, shared = counts[2 : 2 + LONGEST], counts[2 + LONGEST :]
    ratio = (words + ABOVE) / (nearest + BELOW)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    found, product = [], 1.0
    for n, (of, right) in enumerate(zip(there, shared, strict=True), 1):
        product *= (right + ABOVE) / (of + BELOW)
        found.append(product ** (1 / n) * penalty)
    return found


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[place : place + n]) for place in range(len(words) - n + 1))


def rouge_l(prediction: str, references: Sequence[str]) -> float:
    """Return ROUGE-L, 0 to 1: of the best precision and the best recall over the references.

    The two may be of different references. Words end at single blanks, so two in a row make an
    empty word, and an empty text is one. Nothing is lower-cased or stemmed.
    """
    words = prediction.strip().split(" ")
    shared = [
        (longest_common(words, reference), len(reference))
        for reference in (each.strip().split(" ") for each in references)
    ]
    precision = max(length / len(words) for length, _ in shared)
    recall = max(length / of for length, of in shared)
    if not precision or not recall:
        return 0.0
    return (1 + ROUGE_BETA**2) * precision * recall / (recall + ROUGE_BETA**2 * precision)


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    before = [0] * (len(other) + 1)
    for word in one:
        row = [0]
        for place, their in enumerate(other):
            row.append(before[place] + 1 if word == their else max(before[place + 1], row[place]))
        before = row
    return before[-1]


class MeteorError(Exception):
    """The program did not answer; the message is one line."""


def find_meteor() -> Path | None:
    """Return the program, where the package that brings it is installed."""
    spec = find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / INSIDE).exists():
            return Path(folder) / INSIDE
    return None


def meteor_counts(
    program: Path, predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> Any:
    """Return float[n_predictions, N_COUNTS], of each prediction's best reference, to be added up.

    A prediction that is its reference has no chunk, as the program adds them up. Raises
    MeteorError where there is no Java, or the program says something else than such numbers.
    """
    import numpy

    java = shutil.which("java")
    if java is None:
        raise MeteorError("METEOR needs Java: install a runtime, or leave it out.")
    command = [java, "-jar", str(program), *ARGUMENTS]
    pairs = zip(predictions, references, strict=True)
    try:
        # What it says beside its answers is of no use: it may not fill a pipe that nobody reads.
        with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, encoding="utf-8") as asked:
            rows = [_counted(asked, *pair) for pair in pairs]
        counts = numpy.array([row.split() for row in rows], dtype=float)
        counts = counts.reshape(len(rows), N_COUNTS)
    except (OSError, ValueError) as error:
        raise MeteorError(f"{program} does not answer as METEOR 1.5 does ({error}).") from None
    whole = (counts[:, CHUNKS] == 1) & (counts[:, CHUNKS + 1 :] == counts[:, :2]).all(axis=1)
    counts[whole, CHUNKS] = 0
    return counts


def meteor(sums: Any) -> Any:
    """Return METEOR, 0 to 1, of counts added up: float[…] of float[…, N_COUNTS]."""
    import numpy

    lengths, function_words = sums[..., 0:2], sums[..., 2:4]
    of_modules = sums[..., 4:CHUNKS].reshape(*sums.shape[:-1], N_MODULES, 2, 2)
    matched = DELTA * of_modules[..., 0, :] + (1 - DELTA) * of_modules[..., 1, :]
    matched = (matched * numpy.array(WEIGHTS)[:, None]).sum(axis=-2)
    weighed = DELTA * (lengths - function_words) + (1 - DELTA) * function_words
    shares = numpy.divide(matched, weighed, out=numpy.zeros_like(matched), where=weighed > 0)
    precision, recall = shares[..., 0], shares[..., 1]
    below = (1 - ALPHA) * recall + ALPHA * precision
    mean = numpy.divide(precision * recall, below, out=numpy.zeros_like(below), where=below > 0)
    words = sums[..., CHUNKS + 1 :].mean(axis=-1)
    torn = numpy.divide(sums[..., CHUNKS], words, out=numpy.zeros_like(words), where=words > 0)
    return mean * (1 - GAMMA * torn**BETA)


def _counted(asked: "Popen[str]", prediction: str, references: Sequence[str]) -> str:
    """Return the program's line of counts; raises ValueError where it has ended."""
    assert asked.stdin
    assert asked.stdout
    # The separator is taken from the prediction alone.
    parts = ["SCORE", *references, prediction.replace("|||", "")]
    asked.stdin.write(" ".join(" ||| ".join(parts).split()) + "\n")
    asked.stdin.flush()
    line = asked.stdout.readline()
    if not line:
        raise ValueError("it ended early")
    return line.strip()


def paired_bootstrap(
    one: Any,
    other: Any,
    value: Callable[[Any], Any],
    seed: int,
    *,
    subsets: int,
    size: int,
) -> list[float]:
    """Return for each measure the share of subsets in which `one` is not better than `other`.

    one, other: float[n_questions, n_parts], what the measures are computed from, of the same
    questions; value: from their sums over a subset, float[…, n_parts], to the measures,
    float[…, n_measures]. Subsets are drawn with replacement, as large as the whole where it is
    smaller than `size`: larger ones would tell more than there is. The shares are one-sided p
    values (Book QA 5.1).
    """
    import numpy

    rng = numpy.random.default_rng(seed)
    n_questions = len(one)
    size = min(size, n_questions)
    n_not_better: Any = 0
    for begin in range(0, subsets, SUBSETS_AT_ONCE):
        drawn = rng.integers(0, n_questions, (min(SUBSETS_AT_ONCE, subsets - begin), size))
        weights = numpy.stack([numpy.bincount(row, minlength=n_questions) for row in drawn])
        n_not_better += (value(weights @ one) <= value(weights @ other)).sum(axis=0)
    return [float(each) for each in n_not_better / subsets]
