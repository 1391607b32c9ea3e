"""The paper's baselines by name: each writes official predictions, which are then scored.

What is trained is trained on the file given as --train; evaluated is on the gold file, where each
question comes with the true answers before it (QuAC 4).
"""

import random
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from annotation.metrics.result import Option, Result, ScoreError
from annotation.protocols.quac import simple_baselines as bounds
from annotation.protocols.quac.file_format import FILES
from annotation.protocols.quac.scoring import FIGURE_7, prediction_line, score
from annotation.protocols.quac.simple_baselines import (
    logistic_regression,
    read_vectors,
    sentence_similarity,
    texts_of,
)
from annotation.protocols.quac.turns import Turn, read_turns
from readers.trained import Trained

HUMAN = "human"
MAKERS = {
    "random-sentence": bounds.random_sentence,
    "majority": bounds.majority,
    "transition-matrix": bounds.transition_matrix,
    "gold-na-transition-matrix": bounds.gold_no_answer_transition_matrix,
    "gold-sentence-na": bounds.gold_sentence_no_answer,
    HUMAN: bounds.human,
    "sentence-similarity": sentence_similarity,
    "logistic-regression": logistic_regression,
}
BASELINES = tuple(MAKERS)
UNTRAINED = {"random-sentence", "gold-sentence-na", HUMAN}
READS_VECTORS = {"sentence-similarity", "logistic-regression"}
WITH_ACTS = {"majority", HUMAN}
ACTS = ("yes/no", "followup")
OPTIONS: Mapping[str, Option] = {
    "language": {"metavar": "CODE", "help": "language of the sections (default en)"},
    "vectors": {
        "type": Path,
        "metavar": "FILE",
        "help": "vectors of words or whole sentences instead of tf-idf, a line each",
    },
}
NONE = "–"
# F1 on dev (Table 4), by the number of previous turns; of its other cells we have no copy.
F1_OF_PAPER = {2: 60.6}


def _bidaf(turns: int) -> Trained:
    """Return BiDAF++ that sees the given number of previous turns."""
    told = f" with {turns} previous turn{'s' * (turns > 1)}" if turns else ""
    return Trained(
        f"BiDAF++{told} (QuAC 5.3)",
        "readers.quac.training",
        {"turns": turns},
        "bidaf",
        train_files=(FILES["train"],),
        dev_file=FILES["dev"],
        source="QuAC, Table 4",
        paper={"f1": F1_OF_PAPER.get(turns)},
        scoring={"by": FIGURE_7},
    )


TRAINED: Mapping[str, Trained] = {
    "bidaf++": _bidaf(0),
    **{f"bidaf++-{turns}": _bidaf(turns) for turns in (1, 2, 3)},
}


def run(name: str, predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write the baseline's `predictions` for `gold` and return their scores.

    name: one of BASELINES. options: train (a path), seed, language, vectors, and those of
    `score`. Raises ScoreError in one line, also where `predictions` is there already.
    """
    if name == HUMAN and options.get("by"):
        raise ScoreError("People by group stand beside every prediction: score another one --by.")
    turns = read_turns(gold)
    answer = MAKERS[name](_setting(name, turns, options))
    lines = [_line(list(dialog), answer) for _, dialog in groupby(turns, key=_dialog)]
    try:
        with predictions.open("x", encoding="utf-8") as file:
            file.writelines(lines)
    except FileExistsError:
        raise ScoreError(
            f"{predictions} is there already; a baseline writes its predictions: name a new file."
        ) from None
    except OSError as error:
        raise ScoreError(f"{predictions}: it cannot be written ({error.strerror}).") from None
    result = score(predictions, gold, options)
    if name == HUMAN:
        return _of_people(
            result, bounds.human_totals(turns, cast(float | None, options.get("min-f1")))
        )
    return result if name in WITH_ACTS else _without_acts(result)


def run_all(folder: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write every baseline's predictions into `folder`, a new one; return their scores abreast.

    options: as of `run`; each baseline is given those that mean something for it. Raises
    ScoreError in one line.
    """
    if options.get("by"):
        raise ScoreError("A table of all baselines has no room for groups: score one of them --by.")
    if options.get("train") is None:
        raise ScoreError("Most baselines learn from a training file: give --train FILE.")
    try:
        folder.mkdir(parents=True)
    except OSError:
        raise ScoreError(
            f"{folder} cannot be made; all baselines write into a new folder: name one."
        ) from None
    results = {}
    for name in BASELINES:
        meant = {key: value for key, value in options.items() if _reads(name, key)}
        results[name] = run(name, folder / f"{name}.jsonl", gold, meant)
    return comparison("baseline", results)


def _reads(name: str, option: str) -> bool:
    return option != "vectors" or name in READS_VECTORS


def _setting(name: str, turns: list[Turn], options: Mapping[str, Any]) -> bounds.Setting:
    train, file = options.get("train"), options.get("vectors")
    language = options.get("language") or "en"
    if train is None and name not in UNTRAINED:
        raise ScoreError(f"{name} learns from a training file: give --train FILE.")
    if file is not None and name not in READS_VECTORS:
        raise ScoreError(f"--vectors means nothing for {name}; leave it out.")
    learned = read_turns(train) if train is not None and name not in UNTRAINED else []
    vectors = None
    if file is not None:
        vectors = read_vectors(file, _texts([*learned, *turns], language))
    return bounds.Setting(learned, random.Random(options.get("seed") or 0), language, vectors)


def _texts(turns: Iterable[Turn], language: str) -> set[str]:
    """Return every question, answer and sentence that a baseline may ask a vector of."""
    found: set[str] = set()
    sections = set()
    for turn in turns:
        found |= {turn.question, turn.teacher.text}
        sections.add(turn.section)
    return found.union(*(texts_of(section, language) for section in sections))


def _dialog(turn: Turn) -> str:
    return turn.dialog


def _line(dialog: list[Turn], answer: bounds.Answering) -> str:
    """Return a dialog's line of the official predictions."""
    return prediction_line([turn.qid for turn in dialog], [answer(turn) for turn in dialog])


def _without_acts(result: Result) -> Result:
    rows = [
        [row[0], "–"] if row[0].removesuffix(", majority") in ACTS else row
        for row in result["rows"]
    ]
    note = "It predicts no dialog acts; the official script counts them as wrong."
    return {**result, "rows": rows, "notes": [*result["notes"], note]}


def _of_people(result: Result, totals: dict[str, float]) -> Result:
    """Return the result with people's own figures in the place of the official script's."""
    official = {key: totals[key] for key in result["official"] if key in totals}
    agreement = {
        key: value for key, value in result.get("beside", {}).items() if key.endswith(", people")
    }
    note = (
        "Each reference was held out in turn and scored against the others. The predictions "
        "written are the teachers' answers; scored by the official script they meet themselves."
    )
    return {
        **result,
        "official": official,
        "beside": agreement,
        "rows": [[name, f"{value:.1f}"] for name, value in {**official, **agreement}.items()],
        "notes": [*result["notes"], note],
    }


def comparison(what: str, results: Mapping[str, Result]) -> Result:
    """Return one result with a row for each of `results` and a column for each measure.

    what: the heading of the first column. The scores are in `groups` by name; nothing is in
    `official`, because none of them is the one score. A sentence said of several is said once.
    """
    cells = {name: dict(row[:2] for row in result["rows"]) for name, result in results.items()}
    measures = list(dict.fromkeys(measure for row in cells.values() for measure in row))
    return {
        "official": {},
        "groups": {
            name: {**result["official"], **result.get("beside", {})}
            for name, result in results.items()
        },
        "columns": [what, *measures],
        "rows": [
            [name, *(row.get(measure, NONE) for measure in measures)] for name, row in cells.items()
        ],
        "notes": list(dict.fromkeys(note for each in results.values() for note in each["notes"])),
    }
