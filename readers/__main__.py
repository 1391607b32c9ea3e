"""Trains a reader and lets it answer, in a process of its own that ends with the one that began it.

python -m readers FOLDER: reads train.jsonl, asked.jsonl and work.json there, keeps
progress.json up to date, and writes predictions.jsonl at the end.
"""

import json
import random
import sys
from collections.abc import Iterable
from pathlib import Path

from common.watched_process import Progress, end_with_parent
from readers.reader import Prediction, StoredExamples, make_reader


def main(folder: Path) -> None:
    """Do the work that the folder describes."""
    work = json.loads((folder / "work.json").read_text())
    train = StoredExamples(folder / "train.jsonl", work["n_train"])
    asked = StoredExamples(folder / "asked.jsonl", work["n_asked"])
    tell = Progress(folder, work["n_asked"])
    reader = make_reader(work["reader"])
    reader.fit(train, random.Random(work["rng"]), tell)
    _write(folder / "predictions.jsonl", reader.predict(asked, tell))


def _write(path: Path, predictions: Iterable[Prediction]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for one in predictions:
            line = {"id": one.key, "answer": one.answer, "loss": one.loss}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    end_with_parent()
    main(Path(sys.argv[1]))
