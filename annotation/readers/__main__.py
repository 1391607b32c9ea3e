"""Trains a reader and lets it answer, in a process of its own that ends with whoever began it.

python -m annotation.readers FOLDER: reads train.jsonl, asked.jsonl and work.json there, keeps
progress.json up to date, and writes predictions.jsonl at the end.
"""

import json
import os
import random
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from annotation.readers.example import Prediction, StoredExamples
from annotation.readers.reader import make_reader

SAY_SECONDS = 1.0


class Progress:
    """Writes how far it is, about once a second."""

    def __init__(self, path: Path, total: int) -> None:
        self.path, self.total, self.said = path, total, 0.0

    def __call__(self, step: str, done: int, total: int) -> None:
        """Hear what a reader is at."""
        if time.monotonic() - self.said < SAY_SECONDS and done:
            return
        self.said = time.monotonic()
        share = done / (total or self.total or 1)
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps({"step": step, "share": min(1.0, share)}))
        # Whoever reads it never finds half of it.
        beside.replace(self.path)


def main(folder: Path) -> None:
    """Do the work that the folder describes."""
    work = json.loads((folder / "work.json").read_text())
    train = StoredExamples(folder / "train.jsonl", work["n_train"])
    asked = StoredExamples(folder / "asked.jsonl", work["n_asked"])
    tell = Progress(folder / "progress.json", work["n_asked"])
    reader = make_reader(work["reader"])
    reader.fit(train, random.Random(work["rng"]), tell)
    _write(folder / "predictions.jsonl", reader.predict(asked, tell))


def _write(path: Path, predictions: Iterable[Prediction]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for one in predictions:
            line = {"id": one.key, "answer": one.answer, "loss": one.loss}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _end_with_parent() -> None:
    """End at once when whoever holds the other end of our input is gone."""
    # Not through sys.stdin, whose lock this thread would still hold when Python shuts down.
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    main(Path(sys.argv[1]))
