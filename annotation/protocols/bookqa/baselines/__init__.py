"""Baselines: how people do, the second's answers against the writer's, and what is trained."""

import json
from collections.abc import Mapping
from pathlib import Path

from annotation.metrics.result import Result, ScoreError
from annotation.protocols.bookqa.baselines.systems import MISSING, TRAINED
from annotation.protocols.bookqa.scoring import read_gold, score_against

__all__ = ["BASELINES", "MISSING", "TRAINED", "run", "run_all"]
HUMAN = "human"
BASELINES = (HUMAN,)
NOTE = "The second answer to each question, held against the first alone."


def run(name: str, predictions: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write the second answers as `predictions`, and return their scores against the first ones.

    Raises ScoreError in one line, also where `predictions` is there already or a question of
    `gold` has one answer.
    """
    if "train" in options or "seed" in options:
        raise ScoreError(f"{name} learns nothing and draws nothing: leave out --train and --seed.")
    answers = read_gold(gold)
    for key, of in answers.items():
        if len(of) < 2:
            raise ScoreError(f"{gold}: {key} has one answer; people are compared where two are.")
    try:
        with predictions.open("x", encoding="utf-8") as file:
            json.dump({key: of[1] for key, of in answers.items()}, file, ensure_ascii=False)
    except FileExistsError:
        raise ScoreError(
            f"{predictions} is there already; a baseline writes its predictions: name a new file."
        ) from None
    except OSError as error:
        raise ScoreError(f"{predictions}: it cannot be written ({error.strerror}).") from None
    first = {key: of[:1] for key, of in answers.items()}
    result = score_against(predictions, gold, first, options)
    result["notes"].insert(0, NOTE)
    return result


def run_all(folder: Path, gold: Path, options: Mapping[str, object]) -> Result:
    """Write the second answers into a new folder, and return their scores."""
    try:
        folder.mkdir(parents=True)
    except OSError:
        raise ScoreError(f"{folder} cannot be made; name a new folder.") from None
    return run(HUMAN, folder / f"{HUMAN}.json", gold, options)
