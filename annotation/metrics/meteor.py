"""METEOR by its official program, which is Java: meteor-1.5.jar, called as nlg-eval calls it."""

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

# The Python package that brings the program and its paraphrases.
PACKAGE, INSIDE = "pycocoevalcap", "meteor/meteor-1.5.jar"
ARGUMENTS = ("-", "-", "-stdio", "-l", "en", "-norm")


class MeteorError(Exception):
    """The program did not answer; the message is one line."""


def find_meteor() -> Path | None:
    """Return the program, where the package that brings it is installed."""
    spec = find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / INSIDE).exists():
            return Path(folder) / INSIDE
    return None


def meteor(
    program: Path, predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[float, list[float]]:
    """Return METEOR of the corpus, which is no mean, and of each prediction, 0 to 1.

    Raises MeteorError where there is no Java, or the program says something else than numbers.
    """
    java = shutil.which("java")
    if java is None:
        raise MeteorError("METEOR needs Java: install a runtime, or leave it out.")
    command = [java, "-jar", str(program), *ARGUMENTS]
    pairs = zip(predictions, references, strict=True)
    try:
        # What it says beside its answers is of no use: it may not fill a pipe that nobody reads.
        with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, encoding="utf-8") as asked:
            counted = [_answer(asked, _to_count(*pair)) for pair in pairs]
            each = [float(_answer(asked, " ||| ".join(["EVAL", *counted])))]
            # It answers with a number a prediction, and the corpus's last.
            each += [float(_line(asked)) for _ in predictions]
    except (OSError, ValueError) as error:
        raise MeteorError(f"{program} does not answer as METEOR 1.5 does ({error}).") from None
    return each[-1], each[:-1]


def _to_count(prediction: str, references: Sequence[str]) -> str:
    """Return the request to count matches; the separator is taken from the prediction alone."""
    parts = ["SCORE", *references, prediction.replace("|||", "")]
    return " ".join(" ||| ".join(parts).split())


def _answer(asked: "Popen[str]", request: str) -> str:
    assert asked.stdin
    asked.stdin.write(f"{request}\n")
    asked.stdin.flush()
    return _line(asked)


def _line(asked: "Popen[str]") -> str:
    assert asked.stdout
    line = asked.stdout.readline()
    if not line:
        raise ValueError("it ended early")
    return line.strip()
