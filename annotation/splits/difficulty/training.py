"""Trains the folds of a run: each is claimed by one worker, and by another when that one dies."""

import logging
import os
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.models import CrossValidation, Fold, FoldState, HeldOutPrediction, RunState
from annotation.readers.example import Example
from annotation.readers.watched_process import ReaderDied
from annotation.splits.difficulty.examples import examples
from annotation.splits.difficulty.reader_process import ReaderProcess
from annotation.splits.difficulty.readers import can_train, readers_of
from annotation.splits.difficulty.runs import BATCH, SILENT, sum_up
from collector.code_points import CodePoints
from tasks.models import Question

WAIT_SECONDS = 1.0

log = logging.getLogger(__name__)
# A fold that has failed so often would fail again.
MOST_ATTEMPTS = 3
_ONE_HERE = threading.Lock()


def folds_to_train(now: datetime, run: CrossValidation | None = None) -> list[int]:
    """Return the ids of the folds that no living worker has, of one run or of all."""
    rows = Fold.objects.filter(_free(now), _going_on())
    if run is not None:
        rows = rows.filter(run=run)
    return list(rows.values_list("pk", flat=True))


def train(fold_id: int, tell: Callable[[Fold], object] = lambda fold: None) -> bool:
    """Return whether this call trained the fold; another's is left alone.

    So is one whose reader needs libraries that are not installed here: a machine that has them
    takes it. `tell` hears of its progress. A failed attempt leaves the fold free for the next one,
    the last one ends the run. Whoever finishes the last fold sums the run up.
    """
    reader = Fold.objects.filter(pk=fold_id).values_list("run__reader", flat=True).first()
    claim = _claim(fold_id) if reader and can_train(reader) else None
    if claim is None:
        return False
    fold = Fold.objects.select_related("run__collection").get(pk=fold_id)
    try:
        done = _train(fold, claim, tell)
    except (ReaderDied, OSError) as error:
        log.warning("Fold %s of run %s: %s", fold.number + 1, fold.run_id, error)
        _give_up(fold, claim, str(error))
        return False
    if done:
        sum_up(fold.run_id, timezone.now())
    return done


def train_alone(fold_id: int) -> bool:
    """Train the fold, unless this process trains one already: each has a process and a core."""
    if not _ONE_HERE.acquire(blocking=False):
        return False
    try:
        return train(fold_id)
    finally:
        _ONE_HERE.release()


def _free(now: datetime) -> Q:
    dead = Q(state=FoldState.RUNNING, seen_at__lt=now - SILENT)
    return (Q(state=FoldState.WAITING) | dead) & Q(attempts__lt=MOST_ATTEMPTS)


def _going_on() -> Q:
    """Return what finds folds of runs that are not over, without a join.

    An update over a join would choose its rows by a query of its own, which PostgreSQL does not
    ask again after it waited for another's claim: two would win.
    """
    return Q(run__in=CrossValidation.objects.filter(state=RunState.TRAINING))


def fail_exhausted(now: datetime) -> int:
    """Return how many runs end because every attempt at one of their folds died silently."""
    dead = Fold.objects.filter(
        state=FoldState.RUNNING, seen_at__lt=now - SILENT, attempts__gte=MOST_ATTEMPTS
    )
    count = 0
    for fold in dead.filter(_going_on()):
        _give_up(fold, fold.claim, "its worker gave no sign any more")
        count += 1
    return count


def _claim(fold_id: int) -> str | None:
    """Return the secret under which the fold is ours now, None when it is somebody else's."""
    claim, now = secrets.token_hex(16), timezone.now()
    claimed = Fold.objects.filter(_free(now), _going_on(), pk=fold_id).update(
        state=FoldState.RUNNING,
        attempts=F("attempts") + 1,
        claim=claim,
        claimed_by=f"{socket.gethostname()} {os.getpid()}"[:200],
        claimed_at=now,
        seen_at=now,
        step="Writing examples",
        share_done=0,
    )
    return claim if claimed else None


def _train(fold: Fold, claim: str, tell: Callable[[Fold], object]) -> bool:
    """Return whether the predictions were stored; they are not when the claim was lost."""
    with tempfile.TemporaryDirectory(prefix="fold-") as folder:
        process = ReaderProcess(Path(folder))
        try:
            process.start(
                readers_of(fold.run.collection)[fold.run.reader],
                _signed(fold, claim, _examples(fold, own=False)),
                _signed(fold, claim, _examples(fold, own=True)),
                rng=f"{fold.run.seed}:fold {fold.number}",
            )
            while not process.is_over():
                fold.step, fold.share_done, _ = process.progress()
                if not _sign(fold, claim):
                    return False
                tell(fold)
            return _store(fold, claim, process)
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


def _signed(fold: Fold, claim: str, rows: Iterator[Example]) -> Iterator[Example]:
    """Yield the rows, giving a sign of life now and then."""
    for number, row in enumerate(rows):
        if number % BATCH == 0 and number:
            _sign(fold, claim)
        yield row


def _sign(fold: Fold, claim: str) -> bool:
    """Give a sign of life; return whether the fold is still ours and its run goes on."""
    mine = Fold.objects.filter(_going_on(), pk=fold.pk, claim=claim, state=FoldState.RUNNING)
    return bool(mine.update(seen_at=timezone.now(), step=fold.step, share_done=fold.share_done))


def _store(fold: Fold, claim: str, process: ReaderProcess) -> bool:
    """Write the predictions and end the fold in one step, unless the claim was lost."""
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
        mine = Fold.objects.filter(pk=fold.pk, claim=claim, state=FoldState.RUNNING)
        if not mine.update(state=FoldState.DONE, ended_at=timezone.now(), step="", share_done=1):
            return False
        HeldOutPrediction.objects.filter(fold=fold).delete()
        HeldOutPrediction.objects.bulk_create(rows, batch_size=BATCH)
    return True


def _give_up(fold: Fold, claim: str, why: str) -> None:
    """Leave the fold to the next attempt, or end the run after the last one."""
    now = timezone.now()
    with transaction.atomic():
        mine = Fold.objects.select_for_update().filter(pk=fold.pk, claim=claim)
        row = mine.first()
        if row is None or row.state != FoldState.RUNNING:
            return
        is_last = row.attempts >= MOST_ATTEMPTS
        mine.update(
            state=FoldState.FAILED if is_last else FoldState.WAITING, step=why[:80], share_done=0
        )
        if is_last:
            CrossValidation.objects.filter(pk=row.run_id, state=RunState.TRAINING).update(
                state=RunState.FAILED,
                message=f"Fold {row.number + 1} failed {row.attempts} times: {why}",
                ended_at=now,
            )


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
        due = folds_to_train(now, run)
        trained = [train(fold, tell) for fold in due]
        if not any(trained):
            fail_exhausted(now)
            if not sum_up(run.pk, now) and going_on.exists():
                time.sleep(WAIT_SECONDS)
