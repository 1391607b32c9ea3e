"""METEOR 1.5: its official program, which is Java, counts matches; its formula is computed here.

Counts of single predictions add up to those of a corpus, so that the corpus of any subset is
known without asking the program again.
"""

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

# The Python package that brings the program and its paraphrases.
PACKAGE, INSIDE = "pycocoevalcap", "meteor/meteor-1.5.jar"
ARGUMENTS = ("-", "-", "-stdio", "-l", "en", "-norm")
# Of a prediction: words and function words of both sides; per module the matched content words
# and function words of both sides; chunks; matched words of both sides.
N_COUNTS, N_MODULES, CHUNKS = 23, 4, 20
# What the program takes for English: of exact, stem, synonym and paraphrase; then its parameters.
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75


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
            rows = [_answer(asked, _to_count(*pair)) for pair in pairs]
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


def _to_count(prediction: str, references: Sequence[str]) -> str:
    """Return the request to count matches; the separator is taken from the prediction alone."""
    parts = ["SCORE", *references, prediction.replace("|||", "")]
    return " ".join(" ||| ".join(parts).split())


def _answer(asked: "Popen[str]", request: str) -> str:
    assert asked.stdin
    assert asked.stdout
    asked.stdin.write(f"{request}\n")
    asked.stdin.flush()
    line = asked.stdout.readline()
    if not line:
        raise ValueError("it ended early")
    return line.strip()
