"""Trains a run's folds here and now, beside any other machine that does."""

import threading
import time
from collections.abc import Callable

from django.db import connection
from django.utils import timezone

from annotation.models import Fold, JudgingRun
from annotation.splits.difficulty.runs import sum_up
from annotation.splits.difficulty.training import fail_exhausted, folds_to_train, train

WAIT_SECONDS = 1.0


def work_on(
    run: JudgingRun, workers: int = 1, tell: Callable[[Fold], object] = lambda fold: None
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


def _in_thread(run: JudgingRun, tell: Callable[[Fold], object]) -> None:
    try:
        _work(run, tell)
    finally:
        connection.close()


def _work(run: JudgingRun, tell: Callable[[Fold], object]) -> None:
    going_on = JudgingRun.objects.filter(pk=run.pk, state__in=JudgingRun.GOING_ON)
    while going_on.exists():
        now = timezone.now()
        due = folds_to_train(now, run)
        trained = [train(fold, tell) for fold in due]
        if not any(trained):
            fail_exhausted(now)
            if not sum_up(run.pk, now) and going_on.exists():
                time.sleep(WAIT_SECONDS)
