"""Trains what a requester asked for, in a process of its own that ends with the one that began it.

python -m annotation.baselines FOLDER: reads work.json there, keeps progress.json up to date,
trains in FOLDER/out, and writes scores.json at the end. What was trained before goes on.
"""

import json
import sys
from pathlib import Path

import django

from common.watched_process import REFUSED, Progress, end_with_parent

WORK, OUT, SCORES = "work.json", "out", "scores.json"


def main(folder: Path) -> None:
    """Do the work that the folder describes; raises ReaderError or ScoreError in one line."""
    from annotation.baselines.training import Order, train
    from collector.protocols.loading import get_protocol

    work = json.loads((folder / WORK).read_text("utf-8"))
    order = Order(
        protocol=get_protocol(work["protocol"]),
        name=work["name"],
        train=tuple(Path(each) for each in work["train"]),
        dev=Path(work["dev"]),
        out=folder / OUT,
        recipe=work["recipe"],
        seed=work["seed"],
        tell=Progress(folder),
    )
    card = train(order).card
    kept = {"predictions": card["predictions"], "seconds": card["seconds"], **card["table"]}
    (folder / SCORES).write_text(json.dumps(kept, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    end_with_parent()
    django.setup()
    from annotation.metrics.result import ScoreError
    from collector.protocols.loading import ProtocolError
    from readers.trained import ReaderError

    try:
        main(Path(sys.argv[1]))
    except (ProtocolError, ReaderError, ScoreError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(REFUSED)
