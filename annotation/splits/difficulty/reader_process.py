"""A reader of one fold at work in a process of its own."""

import json
from collections.abc import Iterable, Iterator

from common.watched_process import WatchedProcess
from readers import example
from readers.example import Example, Prediction

# One core each: folds are what runs side by side.
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class ReaderProcess(WatchedProcess):
    """Hands examples over in `folder`, starts a reader there, and reads its predictions."""

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
        self.run("-m", "readers", str(self.folder), **ONE_CORE)

    def predictions(self) -> Iterator[Prediction]:
        """Yield what it answered; raises ReaderDied."""
        self.check()
        with (self.folder / "predictions.jsonl").open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                yield Prediction(row["id"], row["answer"], row["loss"])
