"""Trains the folds of a run: each is claimed by one worker, and by another when that one dies."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial

from django.db import connection, transaction
from django.utils import timezone

from annotation.claimed_folders import claimed_folder
from annotation.models import CrossValidation, Fold, HeldOutPrediction
from annotation.splits.cross_validation import BATCH, can_train, readers_of, sum_up
from annotation.splits.kept_questions import examples
from collector.code_points import CodePoints
from common.watched_process import ReaderDied, WatchedProcess
from readers.reader import Example, Prediction, write_examples
from readers.reader import asked as without_answer
from tasks.models import Question

# One core each: folds are what runs side by side.
ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
WAIT_SECONDS = 1.0
_ONE_HERE = threading.Lock()


class ReaderProcess(WatchedProcess):
    """Hands examples over in `folder`, starts a reader there, and reads its predictions."""

    def start(
        self, reader: str, train: Iterable[Example], asked: Iterable[Example], rng: str
    ) -> None:
        """Write the examples and start; rng: the seed that all the reader's chance follows from."""
        work = {
            "reader": reader,
            "rng": rng,
            "n_train": write_examples(self.folder / "train.jsonl", train),
            "n_asked": write_examples(self.folder / "asked.jsonl", map(without_answer, asked)),
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


def train(fold_id: int, now: datetime, tell: Callable[[Fold], object] = lambda fold: None) -> bool:
    """Return whether this call trained the fold; another's is left alone.

    So is one whose reader needs libraries that are not installed here: a machine that has them
    takes it. `tell` hears of its progress. Whoever finishes the last fold sums the run up.
    """
    run = CrossValidation.objects.filter(folds=fold_id).first()
    if run is None or not can_train(run.reader):
        return False
    done = Fold.do(fold_id, now, partial(_train, tell=tell))
    # That also says that the run is over, where a fold was given up.
    sum_up(run.pk, timezone.now())
    return done


def train_alone(fold_id: int, now: datetime) -> bool:
    """Train the fold, unless this process trains one already: each has a process and a core."""
    if not _ONE_HERE.acquire(blocking=False):
        return False
    try:
        return train(fold_id, now)
    finally:
        _ONE_HERE.release()


def _train(fold: Fold, tell: Callable[[Fold], object]) -> None:
    fold.say("Writing examples")
    with claimed_folder(fold) as folder:
        process = ReaderProcess(folder)
        try:
            process.start(
                readers_of(fold.run.collection)[fold.run.reader],
                _examples(fold, own=False),
                _examples(fold, own=True),
                rng=f"{fold.run.seed}:fold {fold.number}",
            )
            while not process.is_over():
                fold.step, fold.share_done, _ = process.progress()
                fold.say(fold.step, fold.share_done)
                tell(fold)
            store_predictions(fold, process)
        finally:
            process.stop()


def _examples(fold: Fold, *, own: bool) -> Iterator[Example]:
    """Yield the examples of the fold, or those of all the others, by key."""
    rows = HeldOutPrediction.objects.filter(run=fold.run)
    chosen = rows.filter(fold=fold) if own else rows.exclude(fold=fold)
    return examples(
        Question.objects.filter(
            pk__in=chosen.values("question_id"), verdict__isnull=False
        ).order_by(CodePoints("key"))
    )


def store_predictions(fold: Fold, process: ReaderProcess) -> None:
    """Write the predictions and end the fold in one step; raises LostClaim."""
    questions = dict(
        HeldOutPrediction.objects.filter(fold=fold).values_list("question__key", "question_id")
    )
    rows = [
        HeldOutPrediction(
            run=fold.run,
            fold=fold,
            question_id=questions[one.key],
            answer=one.answer,
            loss=one.loss,
        )
        for one in process.predictions()
    ]
    if len(rows) != len(questions):
        raise ReaderDied(f"it answered {len(rows)} of {len(questions)} questions")
    with transaction.atomic():
        fold.finish()
        HeldOutPrediction.objects.filter(fold=fold).delete()
        HeldOutPrediction.objects.bulk_create(rows, batch_size=BATCH)


def work_on(
    run: CrossValidation, workers: int = 1, tell: Callable[[Fold], object] = lambda fold: None
) -> None:
    """Train folds until the run is over, several at a time, and read the run anew.

    Where others train the last folds it waits for them, and takes over what they leave undone.
    """
    if workers <= 1:
        _work(run, tell)
    else:
        threads = [threading.Thread(target=_in_thread, args=(run, tell)) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    run.refresh_from_db()


def _in_thread(run: CrossValidation, tell: Callable[[Fold], object]) -> None:
    try:
        _work(run, tell)
    finally:
        connection.close()


def _work(run: CrossValidation, tell: Callable[[Fold], object]) -> None:
    going_on = CrossValidation.objects.filter(pk=run.pk, state__in=CrossValidation.GOING_ON)
    while going_on.exists():
        now = timezone.now()
        due = Fold.free(now).filter(run=run).values_list("pk", flat=True)
        done = any(train(fold, now, tell) for fold in due) or sum_up(run.pk, now)
        if not done and going_on.exists():
            time.sleep(WAIT_SECONDS)
