"""Trains the baselines that requesters ask for: a row says what, a machine that can takes it up."""

import json
import threading
import time
from datetime import datetime
from pathlib import Path

from django.conf import settings

from annotation.baselines.__main__ import OUT, SCORES, WORK
from annotation.models import BaselineRun, Release
from annotation.release.release_folder import sha256_of
from collector.protocols.loading import get_protocol
from common.actions import ActionError
from common.safe_files import private_path
from common.watched_process import WatchedProcess
from readers.trained import ReaderError, is_installed

SAY_SECONDS = 2.0
# Two at once would take twice as long each.
_ONE_HERE = threading.Lock()


def order_baseline(
    release: Release, name: str, recipe: str, by: str, now: datetime
) -> BaselineRun | None:
    """Return the new run, None when the same one is under way already."""
    seed = release.collection.random_seed
    return BaselineRun.ask(
        release=release, name=name, recipe=recipe, seed=seed, by=by, asked_at=now
    )


def train_baseline(run_id: int, now: datetime) -> bool:
    """Return whether this call trained the run to its end; what another has is left alone.

    A machine that lacks what readers are trained with, or the release's files, leaves it too.
    """
    if not is_installed():
        return False
    waiting = BaselineRun.objects.select_related("release").filter(pk=run_id).first()
    if waiting is None or not waiting.release.place.is_dir():
        return False
    if not _ONE_HERE.acquire(blocking=False):
        return False
    try:
        return BaselineRun.do(run_id, now, _train)
    finally:
        _ONE_HERE.release()


def folder_of(run: BaselineRun) -> Path:
    """Return where the run keeps what it has trained; begun again there, it goes on."""
    return Path(settings.HOME) / "baselines" / str(run.pk)


def _train(run: BaselineRun) -> None:
    folder = folder_of(run)
    private_path(private_path(folder.parent) / folder.name)
    process = WatchedProcess(folder)
    try:
        (folder / WORK).write_text(json.dumps(_work(run)), "utf-8")
        process.run("-m", "annotation.baselines", str(folder))
        told = time.monotonic()
        while not process.is_over():
            if time.monotonic() - told < SAY_SECONDS:
                continue
            told, said = time.monotonic(), process.progress()
            run.say(said.step, said.share, seconds_left=said.seconds_left)
        process.check()
    finally:
        process.stop()
    scores = json.loads((folder / SCORES).read_text("utf-8"))
    run.finish(scores=scores, checksum=sha256_of(folder / OUT / scores["predictions"]))


def _work(run: BaselineRun) -> dict[str, object]:
    """Return what the process is told; raises ActionError where the release lacks a file."""
    # A process of the jobs starts without it.
    from annotation.baselines.training import named

    try:
        about = named(get_protocol(run.release.collection.protocol), run.name)
    except ReaderError as error:
        raise ActionError(str(error)) from None
    released = run.release.place
    return {
        "protocol": run.release.collection.protocol,
        "name": run.name,
        "train": [str(released / name) for name in about.train_files],
        "dev": str(released / about.dev_file),
        "recipe": run.recipe,
        "seed": run.seed,
    }
