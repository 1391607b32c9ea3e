"""Trains the baselines that requesters ask for: a row says what, a machine that can takes it up."""

import json
import logging
import os
import secrets
import socket
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotation.baselines.__main__ import OUT, SCORES, WORK
from annotation.models import BaselineRun, Release, TrainingState
from annotation.readers.trained import ReaderError, is_installed
from annotation.readers.watched_process import ReaderDied, Refused, WatchedProcess
from annotation.release.release_folder import sha256_of
from collector.protocols.loading import get_protocol
from common.safe_files import private_path

log = logging.getLogger(__name__)
# Whoever has given no sign for so long has died.
SILENT = timedelta(minutes=2)
# A run that has failed so often would fail again.
MOST_ATTEMPTS = 3
SIGN_SECONDS = 2.0
# Two at once would take twice as long each.
_ONE_HERE = threading.Lock()


def order_baseline(
    release: Release, name: str, recipe: str, by: str, now: datetime
) -> BaselineRun | None:
    """Return the new run, None when the same one is under way already."""
    try:
        with transaction.atomic():
            return BaselineRun.objects.create(
                release=release,
                name=name,
                recipe=recipe,
                seed=release.collection.random_seed,
                by=by,
                asked_at=now,
            )
    except IntegrityError:
        return None


def stop_baseline(run: BaselineRun, now: datetime) -> bool:
    """Return whether the run was stopped; whoever trains it ends within seconds."""
    going_on = BaselineRun.objects.filter(pk=run.pk, state__in=BaselineRun.GOING_ON)
    return bool(going_on.update(state=TrainingState.STOPPED, step="", ended_at=now))


def baselines_to_train(now: datetime) -> list[int]:
    """Return the ids of the runs that no living machine has."""
    return list(BaselineRun.objects.filter(_free(now)).values_list("pk", flat=True))


def train_baseline(run_id: int) -> bool:
    """Return whether this call trained the run to its end; what another has is left alone.

    A machine that lacks what readers are trained with, or the release's files, leaves it too.
    """
    if not is_installed():
        return False
    waiting = BaselineRun.objects.select_related("release__collection").filter(pk=run_id).first()
    if waiting is None or not waiting.release.place.is_dir():
        return False
    if not _ONE_HERE.acquire(blocking=False):
        return False
    try:
        claim = _claim(run_id)
        return claim is not None and _train_claimed(waiting, claim)
    finally:
        _ONE_HERE.release()


def folder_of(run: BaselineRun) -> Path:
    """Return where the run keeps what it has trained; begun again there, it goes on."""
    return Path(settings.HOME) / "baselines" / str(run.pk)


def fail_exhausted(now: datetime) -> int:
    """Return how many runs end because every attempt at them died silently."""
    return BaselineRun.objects.filter(
        state=TrainingState.RUNNING, seen_at__lt=now - SILENT, attempts__gte=MOST_ATTEMPTS
    ).update(
        state=TrainingState.FAILED,
        step="",
        ended_at=now,
        message="The machines that trained it gave no sign any more.",
    )


def _free(now: datetime) -> Q:
    dead = Q(state=TrainingState.RUNNING, seen_at__lt=now - SILENT)
    return (Q(state=TrainingState.WAITING) | dead) & Q(attempts__lt=MOST_ATTEMPTS)


def _claim(run_id: int) -> str | None:
    """Return the secret under which the run is ours now, None when it is somebody else's."""
    claim, now = secrets.token_hex(16), timezone.now()
    claimed = BaselineRun.objects.filter(_free(now), pk=run_id).update(
        state=TrainingState.RUNNING,
        attempts=F("attempts") + 1,
        claim=claim,
        claimed_by=f"{socket.gethostname()} {os.getpid()}"[:200],
        began_at=now,
        seen_at=now,
        step="Starting",
        share_done=0,
        seconds_left=None,
    )
    return claim if claimed else None


def _mine(run: BaselineRun) -> QuerySet[BaselineRun]:
    """Return what finds the run while it is still under our claim and goes on."""
    return BaselineRun.objects.filter(pk=run.pk, claim=run.claim, state=TrainingState.RUNNING)


def _train_claimed(run: BaselineRun, claim: str) -> bool:
    run.claim = claim
    try:
        return _train(run)
    except (ReaderDied, ReaderError, OSError) as error:
        log.warning("Baseline %s of %s: %s", run.name, run.release, error)
        _give_up(run, str(error), for_good=isinstance(error, Refused | ReaderError))
        return False


def _train(run: BaselineRun) -> bool:
    """Return whether what was trained is stored; it is not when the claim was lost."""
    folder = folder_of(run)
    private_path(private_path(folder.parent) / folder.name)
    process = WatchedProcess(folder)
    try:
        (folder / WORK).write_text(json.dumps(_work(run)), "utf-8")
        process.run("-m", "annotation.baselines", str(folder))
        signed = time.monotonic()
        while not process.is_over():
            if time.monotonic() - signed < SIGN_SECONDS:
                continue
            signed = time.monotonic()
            said = process.progress()
            if not _mine(run).update(
                seen_at=timezone.now(),
                step=said.step[:120],
                share_done=said.share,
                seconds_left=said.seconds_left,
            ):
                return False
        process.check()
        return _store(run, folder)
    finally:
        process.stop()


def _work(run: BaselineRun) -> dict[str, object]:
    """Return what the process is told; raises ReaderError where the release lacks a file."""
    # A process of the jobs starts without it.
    from annotation.baselines.training import named

    about = named(get_protocol(run.release.collection.protocol), run.name)
    released = run.release.place
    return {
        "protocol": run.release.collection.protocol,
        "name": run.name,
        "train": [str(released / name) for name in about.train_files],
        "dev": str(released / about.dev_file),
        "recipe": run.recipe,
        "seed": run.seed,
    }


def _store(run: BaselineRun, folder: Path) -> bool:
    """Keep the scores and end the run, unless it is not ours any more."""
    scores = json.loads((folder / SCORES).read_text("utf-8"))
    return bool(
        _mine(run).update(
            state=TrainingState.DONE,
            scores=scores,
            checksum=sha256_of(folder / OUT / scores["predictions"]),
            step="",
            share_done=1,
            ended_at=timezone.now(),
        )
    )


def _give_up(run: BaselineRun, why: str, *, for_good: bool) -> None:
    """Leave the run to the next attempt, or end it, at the latest after the last one."""
    run.refresh_from_db(fields=["attempts"])
    if run.attempts < MOST_ATTEMPTS and not for_good:
        _mine(run).update(state=TrainingState.WAITING, step="", share_done=0)
        return
    _mine(run).update(state=TrainingState.FAILED, step="", message=why, ended_at=timezone.now())
