"""Judges how hard a collection's questions are: a sample, then a cross-validation."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from annotation.models import CrossValidation, Fold
from annotation.protocols.contracts import DifficultyTable
from annotation.splits.cross_validation import (
    PredictionsError,
    begin_run,
    check_trainable,
    chosen_reader,
    last_run,
    n_unjudged,
    run_from_file,
    table_of,
    write_examples,
)
from annotation.splits.single_hop_review import decide, draw_sample, undecided
from annotation.splits.training import work_on
from collector.lookup import collection_named
from collector.models import Collection
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand, processes
from common.long_work import WorkState


class Command(ResultCommand):
    """judge_difficulty NAME [--reader NAME] [--workers N] [--predictions FILE]."""

    help = (
        "Judge how hard the kept questions are: sample top contributors for a person to read, "
        "then train readers on folds and see what they answer. Does here what is due, beside "
        f"jobs on other machines. Example: {MANAGE} judge_difficulty pilot --workers 2"
    )

    refusals = (ActionError, PredictionsError, ProtocolError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument(
            "--workers", type=processes, default=1, metavar="N", help="how many folds at a time"
        )
        parser.add_argument(
            "--reader",
            default="",
            metavar="NAME",
            help="light, or a reader of the protocol's own (default: difficulty.reader)",
        )
        parser.add_argument(
            "--predictions",
            type=Path,
            metavar="FILE",
            help='an outside model\'s answers instead: JSON lines of "id", "answer", "loss"',
        )
        parser.add_argument(
            "--examples",
            type=Path,
            metavar="FILE",
            help="only write what an outside model needs: every question with its fold",
        )
        parser.add_argument(
            "--as-multi-hop",
            action="store_true",
            help="take sampled workers whom nobody has decided about for multi-hop ones",
        )
        parser.add_argument("--again", action="store_true", help="judge even what is judged")
        parser.add_argument("--by", default="the command line", help="who is named in the history")

    def result(self, options: dict[str, Any]) -> Printout:
        """Judge, or say in one line what is missing."""
        collection = collection_named(options["name"])
        table = table_of(collection)
        if table is None:
            raise ActionError(
                f"The protocol of {collection.slug} judges no difficulty: make_splits is all."
            )
        if options["examples"]:
            n_written = write_examples(collection, table, options["examples"])
            lines = [f"{options['examples']}: {n_written} questions, each with its fold."]
            return {"file": str(options["examples"]), "questions": n_written}, lines
        run = self._judge(collection, table, options)
        value = {
            "collection": collection.slug,
            "reader": run.reader,
            "folds": run.n_folds,
            "judged": run.n_examples,
            "right": run.n_right,
            "checksum": run.checksum,
        }
        return value, [
            f"Judged {run.n_examples} questions by {run.reader} in {run.n_folds} folds: "
            f"{run.n_right} answered right. Next: {MANAGE} make_splits {collection.slug}"
        ]

    def _judge(
        self, collection: Collection, table: DifficultyTable, options: dict[str, Any]
    ) -> CrossValidation:
        by, now = options["by"][:150], timezone.now()
        draw_sample(collection, table)
        if options["as_multi_hop"]:
            for worker in undecided(collection):
                decide(collection, worker, False, by, now)
        if options["predictions"]:
            return run_from_file(collection, table, options["predictions"], by, now)
        reader = options["reader"]
        done = last_run(collection)
        is_by_it = done is not None and reader in ("", done.reader)
        if done and is_by_it and not options["again"] and not n_unjudged(collection, done):
            return done
        check_trainable(chosen_reader(collection, table, reader))
        run = begin_run(collection, table, by, now, reader)
        check_trainable(run.reader)
        self._work(run, max(1, options["workers"]))
        if run.state != WorkState.DONE:
            raise ActionError(f"{run.message} Run judge_difficulty again.")
        return run

    def _work(self, run: CrossValidation, workers: int) -> None:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            bars = {
                fold.pk: progress.add_task(f"Fold {fold.number + 1}", total=1)
                for fold in run.folds.all()
            }

            def tell(fold: Fold) -> None:
                words = f"Fold {fold.number + 1}: {fold.step}"
                progress.update(bars[fold.pk], completed=fold.share_done, description=words)

            work_on(run, workers, tell)
