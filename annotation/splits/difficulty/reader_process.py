"""A reader at work in a process of its own, whatever it costs there."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings

from annotation.readers import example
from annotation.readers.example import Example, Prediction

POLL_SECONDS = 1.0
SHOWN = 300


class ReaderDied(Exception):
    """The process ended without its predictions; the message says with what."""


class ReaderProcess:
    """Hands examples over in `folder`, starts a reader there, and reads its predictions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(
        self, reader: str, train: Iterable[Example], asked: Iterable[Example], rng: str
    ) -> None:
        """Write the examples and start; rng: the seed that all the reader's chance follows from."""
        work = {
            "reader": reader,
            "rng": rng,
            "n_train": example.write(self.folder / "train.jsonl", train),
            "n_asked": example.write(self.folder / "asked.jsonl", map(example.asked, asked)),
        }
        (self.folder / "work.json").write_text(json.dumps(work))
        with (self.folder / "errors").open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "annotation.readers", str(self.folder)],
                cwd=settings.BASE_DIR,
                # Closed when we end, however we end: then the process ends too.
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                # One core each: folds are what runs side by side.
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )

    def is_over(self, wait_seconds: float = POLL_SECONDS) -> bool:
        """Return whether it has ended, after waiting at most so long."""
        assert self.process is not None
        try:
            self.process.wait(wait_seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def progress(self) -> tuple[str, float]:
        """Return what it is at, and the share of that which is done."""
        try:
            said = json.loads((self.folder / "progress.json").read_text())
        except FileNotFoundError:
            return "Starting", 0.0
        return str(said["step"]), float(said["share"])

    def predictions(self) -> Iterator[Prediction]:
        """Yield what it answered; raises ReaderDied."""
        assert self.process is not None
        if self.process.returncode:
            errors = (self.folder / "errors").read_text("utf-8", "replace").strip()
            last = errors.rpartition("\n")[2][:SHOWN]
            raise ReaderDied(f"code {self.process.returncode}: {last or 'it was killed'}")
        with (self.folder / "predictions.jsonl").open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                yield Prediction(row["id"], row["answer"], row["loss"])

    def stop(self) -> None:
        """End it if it still runs."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            if self.process.stdin:
                self.process.stdin.close()
