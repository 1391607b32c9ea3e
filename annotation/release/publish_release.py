"""Issues a release: all files from one reading of the rows, then the folder, then the row."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation.decisions.counted_work import (
    counted_answers,
    counted_work_of,
    excluded_workers,
)
from annotation.decisions.records import main_stages
from annotation.models import Release
from annotation.release import release_folder
from annotation.release.contexts import find_contexts
from annotation.release.facts import Dates
from annotation.release.release_files import Watcher, write
from annotation.release.release_folder import PLACES
from annotation.release.told_questions import store_told
from annotation.release.write_log import check_loggable, keep_log
from collector import kept_folders
from collector.models import Collection
from collector.retrieval.file_format import RetrievalError
from common.actions import ActionError
from common.safe_files import inside
from tasks.models import Question

# At the end of the name of a folder that holds what a release withholds.
PRIVATE = "-private"
TAKEN = "Another release was made meanwhile: make this one again."


@dataclass(frozen=True)
class PublishedRelease:
    """A release and where it is; `is_new` is false when it had been issued before.

    `private`: the folder with what is withheld, None where nothing is.
    """

    release: Release
    folder: Path
    is_new: bool
    private: Path | None = None


def publish_release(
    collection: Collection,
    out: Path | None,
    now: datetime,
    watcher: Watcher | None = None,
    log: Path | None = None,
    dates: Dates | None = None,
    recorded: Callable[[Release, bool], object] = lambda release, is_new: None,
) -> PublishedRelease:
    """Return the release of what is kept now, written to `out` or to releases/<slug>.

    An issued folder is never touched: other content goes to the next free releases/<slug>-N, or
    is refused where `out` is given; equal content is found again. What the protocol withholds is
    beside it in a folder of its own, readable by its owner alone. With `log` the private log of all
    work up to then is kept there. dates: of a release that is made again, as they were. recorded:
    is told the release and whether it is new, in the transaction that makes it one. Raises
    ActionError or LogError in one line, and then nothing is left behind.
    """
    watcher = watcher or Watcher()
    _check(collection)
    try:
        find_contexts(collection, watcher.say)
    except RetrievalError as error:
        raise ActionError(str(error)) from None
    if log:
        check_loggable(collection, log)
    base = out.resolve() if out else inside(Path(settings.RELEASES), collection.slug)
    reconcile(base.parent)
    with release_folder.beside(base) as space:
        made, private = space / "release", space / "private"
        made.mkdir()
        lines = space / "log.jsonl" if log else None
        counts, told = write(collection, made, private, watcher, lines, dates, now)
        parts = [part for part in (private, made) if part.exists()]
        target = _place(made, parts, base, fixed=out is not None)
        manifest = release_folder.digests(made)
        if log and lines:
            keep_log(lines, manifest, log)
        # Before anybody can read it: should it break now, nothing that it tells tests anybody.
        if told:
            store_told(collection, told, now)
        places = {part.name: str(_where(part, made, target)) for part in parts}
        written = space / "written"
        written.write_text(json.dumps([collection.pk, str(target), places]))
        written.rename(space / PLACES)
        try:
            with transaction.atomic():
                release, is_new = _record(collection, target, manifest, counts, now)
                for part in parts:
                    if release_folder.is_free(where := _where(part, made, target)):
                        release_folder.publish(part, where, is_private=part != made)
                    elif is_new and not release_folder.is_same(part, where):
                        raise ActionError(TAKEN)
                recorded(release, is_new)
        except BaseException:
            _take_back(space)
            raise
    return PublishedRelease(
        release, target, is_new, beside_release(target) if len(parts) > 1 else None
    )


def reconcile(base: Path) -> None:
    """Remove what was left in `base` by those who died, and what they put in place without a row.

    Who dies later has issued the release: it is whole.
    """
    for space in release_folder.left_behind(base):
        _take_back(space)
        shutil.rmtree(space, ignore_errors=True)


def _take_back(space: Path) -> None:
    """Remove the parts of a release that left `space`, unless the release has its row."""
    if not (space / PLACES).exists():
        return
    collection, target, places = json.loads((space / PLACES).read_text())
    with transaction.atomic():
        # A transaction of the dead that the database has not ended yet has this lock.
        Collection.objects.select_for_update().filter(pk=collection).first()
        if not Release.objects.filter(folder=kept_folders.named(Path(target))).exists():
            for part, place in places.items():
                if not (space / part).exists():
                    shutil.rmtree(place, ignore_errors=True)


def beside_release(target: Path) -> Path:
    """Return the folder that holds what the release in `target` withholds."""
    return target.with_name(f"{target.name}{PRIVATE}")


def _check(collection: Collection) -> None:
    """Raise ActionError unless there is something to release and all of it has a split."""
    kept = Question.objects.filter(
        counted_work_of(collection),
        stage__collection=collection,
        stage__name__in=main_stages(collection),
        verdict__outcome="kept",
    )
    imported = collection.official_files.exists()
    if not kept.exists() and not imported:
        raise ActionError(
            f"{collection.slug} has no question to release yet: collect answers, then run "
            f"validate_answers {collection.slug} and make_splits {collection.slug}.",
            on_page="There is no question to release yet: none has enough answers that agree.",
        )
    stands = counted_answers(excluded_workers(collection), "verdict__chosen__")
    withdrawn = kept.exclude(stands).count()
    if withdrawn:
        raise ActionError(
            f"The answers to {withdrawn} kept questions rest on work that was withdrawn: run "
            f"validate_answers {collection.slug} and make_splits {collection.slug}."
        )
    unplaced = kept.filter(split_assignment__isnull=True).count()
    if unplaced:
        raise ActionError(
            f"{unplaced} kept questions have no split yet: run make_splits {collection.slug}."
        )


def _where(part: Path, made: Path, target: Path) -> Path:
    return target if part == made else beside_release(target)


def _place(made: Path, parts: list[Path], base: Path, *, fixed: bool) -> Path:
    """Return where the release belongs, or is already with all its parts; raises ActionError."""
    for number in count(1):
        target = base if number == 1 else base.with_name(f"{base.name}-{number}")
        places = {part: _where(part, made, target) for part in parts}
        if all(
            release_folder.is_free(place)
            or (place.is_dir() and release_folder.is_same(part, place))
            for part, place in places.items()
        ):
            return target
        if fixed:
            raise ActionError(
                f"{target}: it holds something else, and an issued release is never changed; "
                "name another folder with --out."
            )
    raise AssertionError("count() never ends")


def _record(
    collection: Collection,
    target: Path,
    manifest: dict[str, Any],
    counts: dict[str, Any],
    now: datetime,
) -> tuple[Release, bool]:
    """Return the row of the release, and whether it was made now; expects a transaction."""
    Collection.objects.select_for_update().get(pk=collection.pk)
    last = Release.objects.filter(collection=collection).order_by("-number").first()
    if last is not None and last.manifest == manifest:
        if not last.place.exists():
            last.folder = kept_folders.named(target)
            last.save(update_fields=["folder"])
        return last, False
    made = Release.objects.create(
        collection=collection,
        number=last.number + 1 if last else 1,
        folder=kept_folders.named(target),
        manifest=manifest,
        counts=counts,
        supersedes=last,
        created_at=now,
    )
    return made, True
