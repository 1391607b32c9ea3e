"""Reads what any outside model answered, in the place of a reader of ours."""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from readers.example import Prediction

_NAMED = 3


class PredictionsError(ValueError):
    """A predictions file cannot be used; the message is one line that says what to do."""


def read_predictions(path: Path) -> dict[str, Prediction]:
    """Return the predictions of a file by the questions' ids.

    Either JSON lines {"id", "answer", "loss"}, or one object {"answer": {id: …}, "loss": {id: …}},
    which may hold an official prediction file's other keys too. Raises PredictionsError.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PredictionsError(f"{path}: it cannot be read ({error}).") from None
    rows = _of_object(path, text) or list(_of_lines(path, text))
    if not rows:
        raise PredictionsError(f"{path}: it holds no prediction.")
    found: dict[str, Prediction] = {}
    for where, row in rows:
        one = _prediction(path, where, row)
        if one.key in found:
            raise PredictionsError(f"{path}, {where}: {one.key} is answered twice; keep one.")
        found[one.key] = one
    return found


def check_complete(path: Path, found: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise PredictionsError that names the first of the wanted questions without a prediction."""
    have = set(found)
    missing = sorted(key for key in wanted if key not in have)
    if missing:
        raise PredictionsError(
            f"{path}: {len(missing)} questions have no prediction, such as "
            f"{', '.join(missing[:_NAMED])}. Predict all of them, out of fold: --examples FILE "
            "writes them with their folds."
        )


def _of_object(path: Path, text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of one object with the answers and losses by id; none for other files."""
    try:
        whole = json.loads(text)
    except ValueError:
        return []
    if not isinstance(whole, dict) or not isinstance(whole.get("answer"), dict):
        return []
    losses = whole.get("loss")
    if not isinstance(losses, dict):
        raise PredictionsError(
            f'{path}: beside "answer" it needs "loss", with the loss of each answer by id.'
        )
    return [
        (key, {"id": key, "answer": answer, "loss": losses.get(key)})
        for key, answer in whole["answer"].items()
    ]


def _of_lines(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise PredictionsError(
                f'{path}, line {number}: it is no object with "id", "answer" and "loss".'
            )
        yield f"line {number}", row


def _prediction(path: Path, where: str, row: dict[str, Any]) -> Prediction:
    key, answer, loss = row.get("id"), row.get("answer"), row.get("loss")
    if not isinstance(key, str) or not isinstance(answer, str):
        raise PredictionsError(f'{path}, {where}: "id" and "answer" must be texts.')
    is_number = isinstance(loss, int | float) and not isinstance(loss, bool)
    if not is_number or not math.isfinite(loss) or loss < 0:  # type: ignore[operator, arg-type]
        raise PredictionsError(f'{path}, {where}: "loss" must be a number, 0 or more.')
    return Prediction(key, answer, round(float(loss), 6))  # type: ignore[arg-type]
