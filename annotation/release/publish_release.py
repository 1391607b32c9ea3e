"""Publishes a release: finds contexts, writes the files, stores what they tell."""

import json
import random
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.decisions.counted_work import (
    counted_answers,
    counted_work_of,
    excluded_workers,
)
from annotation.decisions.records import main_stages
from annotation.decisions.verdicts import decide_collection
from annotation.models import Context, Release, ReleaseOrder, SplitAssignment, ToldQuestion
from annotation.protocols.contracts import CONTEXTS, EXPORT
from annotation.records.schema import IMPORTED
from annotation.records.withholding import Told
from annotation.release import release_folder
from annotation.release.facts import Dates
from annotation.release.release_files import Watcher, write
from annotation.release.release_folder import PLACES
from annotation.release.write_log import check_loggable, keep_log
from annotation.splits.assignment import make_splits
from annotation.splits.kept_questions import kept_questions, told_splits
from collector import kept_folders
from collector.ingest.segmentation import split, version
from collector.models import Collection, Paragraph
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.retrieval.files import index_of
from collector.retrieval.index import RetrievalError
from common.actions import ActionError
from common.safe_files import inside
from tasks.models import Question

TOLD_AT_ONCE = 500
CONTEXTS_AT_ONCE = 200
# At the end of the name of a folder that holds what a release withholds.
PRIVATE = "-private"
TAKEN = "Another release was made meanwhile: make this one again."


def store_told(collection: Collection, told: Iterable[Told], now: datetime) -> None:
    """Store what the release tells; its questions are in the splits that it tells from then on.

    Raises ActionError where another release tells an answer that this one withholds, or withholds
    one that this one tells: both were being made at once.
    """
    tells = {(one.stage, one.key): one for one in told}
    withheld = get_protocol(collection.protocol).part(EXPORT).WITHHELD
    with transaction.atomic():
        # Splits are made, and other releases are issued, before or after this and not meanwhile.
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        before = told_splits(collection)
        rows = Question.objects.filter(stage__collection=collection)
        columns = ("pk", "stage__name", "key", "split_assignment__split")
        rows_told, placed, open_now = [], [], []
        for pk, stage, key, split in rows.values_list(*columns).iterator():
            one = tells.get((stage, key))
            if one is None:
                continue
            if pk in before and (before[pk] in withheld) != (one.split in withheld):
                raise ActionError(
                    "Another release has some questions in other splits: run make_splits "
                    f"{collection.slug} and release again.",
                    on_page="Another release was made meanwhile, which has some questions in "
                    "other splits. Release again.",
                )
            if before.get(pk) in (None, ""):
                rows_told.append(ToldQuestion(question_id=pk, split=one.split))
            if one.split not in ("", split):
                placed.append(
                    SplitAssignment(
                        question_id=pk, split=one.split, reason=one.reason, placed_at=now
                    )
                )
            if not one.split and split in withheld:
                open_now.append(pk)
        # Placed while its votes were told: it has its place the next time.
        for start in range(0, len(open_now), TOLD_AT_ONCE):
            some = open_now[start : start + TOLD_AT_ONCE]
            SplitAssignment.objects.filter(question_id__in=some).delete()
        ToldQuestion.objects.bulk_create(rows_told, TOLD_AT_ONCE, **_replacing("split"))
        SplitAssignment.objects.bulk_create(
            placed, TOLD_AT_ONCE, **_replacing("split", "reason", "placed_at")
        )


def _replacing(*columns: str) -> dict[str, Any]:
    return {"update_conflicts": True, "unique_fields": ["question"], "update_fields": columns}


def find_contexts(collection: Collection, say: Callable[[str], object] = lambda step: None) -> int:
    """Return how many contexts were missing of placed questions, and store them.

    `say` hears how far it is before each portion; what it raises ends the search, and what was
    stored until then stays.

    A protocol with the part `contexts` says which there are. What is stored stays: releases are the
    same, whatever the corpus becomes. Raises RetrievalError where the index is to be built first.
    """
    protocol = get_protocol(collection.protocol)
    if not protocol.has(CONTEXTS):
        return 0
    part, parameters = protocol.part(CONTEXTS), parameters_of(collection)
    # What was published elsewhere has its contexts in its files.
    rows = (
        kept_questions(collection)
        .filter(split_assignment__isnull=False)
        .exclude(payload__has_key=IMPORTED)
    )
    splits = dict(rows.values_list("key", "split_assignment__split"))
    of_collection = Context.objects.filter(question__stage__collection=collection)
    stored = set(of_collection.values_list("question__key", "setting"))
    wanted = part.wanted(splits, parameters)
    missing = {
        key: [setting for setting in settings if (key, setting) not in stored]
        for key, settings in wanted.items()
    }
    keys = [key for key, settings in missing.items() if settings]
    for start in range(0, len(keys), CONTEXTS_AT_ONCE):
        say(f"Finding contexts: {start} of {len(keys)} questions done")
        some = rows.filter(key__in=keys[start : start + CONTEXTS_AT_ONCE])
        index = index_of(collection.corpus)
        made = []
        for question in some.select_related("verdict__chosen").prefetch_related(
            "seed__seed_paragraphs"
        ):
            for setting in missing[question.key]:
                rng = random.Random(f"{collection.random_seed}:contexts:{setting}:{question.key}")
                made.append(part.context(index, setting, question, parameters, rng))
        # Sentences are found of the paragraphs in which none were looked for.
        read = {each for context in made for each in context.paragraphs}
        uncut = list(Paragraph.objects.filter(pk__in=read, sentences__isnull=True).order_by("pk"))
        for paragraph in uncut:
            paragraph.sentences = split(paragraph.text, collection.corpus.language)
            paragraph.splitter = version()
        Paragraph.objects.bulk_update(uncut, ["sentences", "splitter"])
        # Another process was quicker and has stored the same.
        Context.objects.bulk_create(made, ignore_conflicts=True)
    return sum(map(len, missing.values()))


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


def fulfil(order_id: int, now: datetime) -> None:
    """Decide, place and release what the order asks for; one job wins, the others do nothing."""
    ReleaseOrder.do(order_id, now, _make)


def _make(order: ReleaseOrder) -> None:
    def recorded(release: Release, is_new: bool) -> None:
        sentence = "" if is_new else f"Nothing has changed since release {release.number}."
        order.finish(release=release, message=sentence)

    now = timezone.now()
    order.say("Deciding questions")
    decide_collection(order.collection, now)
    order.say("Placing questions")
    make_splits(order.collection, now)
    publish_release(order.collection, None, now, Watcher(say=order.say), recorded=recorded)
