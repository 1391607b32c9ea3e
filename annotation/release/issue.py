"""Issues a release: all files from one reading of the rows, then the folder, then the row."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation.models import Placement, Release
from annotation.release import assignments, attribution, croissant, folder, votes
from annotation.release.articles import articles_of, linked_titles
from annotation.release.card import FILE as CARD
from annotation.release.card import MANIFEST, card, changes, description
from annotation.release.folder import ReleaseError
from annotation.release.records import main_stages, records, snapshot
from annotation.release.shape import ArticleRecord, SeedRecord, is_kept
from annotation.release.spool import Spool
from annotation.replay.writing import check_loggable, keep_log, log_lines
from annotation.reports.collection import tables_from
from annotation.reports.pay import rates_table
from collector.models import Collection
from collector.protocol import find
from tasks.models import Question


@dataclass(frozen=True)
class Watcher:
    """Who is told how far it has come: `say` each step, `advance` each seed that was read."""

    say: Callable[[str], object] = lambda step: None
    advance: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Issued:
    """A release and where it is; `is_new` is false when it had been issued before."""

    release: Release
    folder: Path
    is_new: bool


def issue(
    collection: Collection,
    out: Path | None,
    now: datetime,
    watcher: Watcher | None = None,
    log: Path | None = None,
) -> Issued:
    """Return the release of what is kept now, written to `out` or to releases/<slug>.

    An issued folder is never touched: other content goes to the next free releases/<slug>-N, or
    is refused where `out` is given; equal content is found again. With `log` the private log of
    all work up to then is kept there. Raises ReleaseError or LogError in one line, and then nothing
    is left behind.
    """
    watcher = watcher or Watcher()
    _check(collection)
    if log:
        check_loggable(collection, log)
    base = (out or Path(settings.RELEASES) / collection.slug).resolve()
    with folder.beside(base) as space:
        made = space / "release"
        made.mkdir()
        lines = space / "log.jsonl" if log else None
        counts = _write(collection, made, space, watcher, lines)
        target, is_there = _place(made, base, fixed=out is not None)
        manifest = folder.digests(made)
        if log and lines:
            keep_log(lines, manifest, log)
        if not is_there:
            folder.publish(made, target)
    release, is_new = _record(collection, target, manifest, counts, now)
    return Issued(release, target, is_new)


def _check(collection: Collection) -> None:
    """Raise ReleaseError unless there is something to release and all of it has a split."""
    kept = Question.objects.filter(
        stage__collection=collection,
        stage__name__in=main_stages(collection),
        worker__withdrawn_at__isnull=True,
        verdict__outcome="kept",
    )
    imported = collection.official_files.exists()
    if not kept.exists() and not imported:
        raise ReleaseError(
            f"{collection.slug} has no question to release yet: collect answers, then run "
            f"validate_answers {collection.slug} and make_splits {collection.slug}."
        )
    withdrawn = kept.filter(verdict__chosen__worker__withdrawn_at__isnull=False).count()
    if withdrawn:
        raise ReleaseError(
            f"The answers to {withdrawn} kept questions are by people who have withdrawn: run "
            f"validate_answers {collection.slug} and make_splits {collection.slug}."
        )
    unplaced = kept.filter(placement__isnull=True).count()
    if unplaced:
        raise ReleaseError(
            f"{unplaced} kept questions have no split yet: run make_splits {collection.slug}."
        )


def _write(
    collection: Collection, made: Path, space: Path, watcher: Watcher, log: Path | None
) -> dict[str, Any]:
    """Write every file of the release into `made`, and its log; returns its counts."""
    export = find(collection.protocol).part("export")
    watcher.say("Reading questions and votes")
    with snapshot():
        spool = Spool(space / "records.jsonl").fill(
            export.identified(records(collection)), watcher.advance
        )
        folder.put(made, assignments.FILE, assignments.assignment_lines(collection))
        if log:
            folder.put(log.parent, log.name, log_lines(collection))
    watcher.say("Writing the official files")
    by_split = _splits(collection, export, spool)
    official = []
    for name, chunks in export.files(by_split, _articles(collection, by_split)):
        folder.put(made, name, chunks)
        official.append(name)
    watcher.say("Writing votes, licence and card")
    n_votes = votes.write_votes(made / votes.FILE, spool.seeds())
    folder.put(
        made,
        attribution.FILE,
        attribution.attribution_lines(collection.corpus, spool.seeds()),
    )
    folder.put(made, attribution.LICENCE_FILE, [attribution.licence_text(collection).encode()])
    tables, outcomes = tables_from(collection, spool.seeds(), pay=rates_table(collection))
    kept = _kept(spool, by_split)
    text = card(collection, kept, official, tables, outcomes)
    folder.put(made, CARD, [text.encode()])
    counts = {
        "questions": kept,
        "dropped": outcomes.number("dropped"),
        "waiting": outcomes.number("waiting"),
        "votes": n_votes,
    }
    described = croissant.metadata(collection, description(collection, kept), folder.digests(made))
    folder.put(made, croissant.FILE, [described])
    folder.put(made, MANIFEST, [_manifest(collection, counts, folder.digests(made))])
    folder.write_sums(made)
    return counts


class _Split:
    """The seeds of one split, read anew each time they are gone through."""

    def __init__(self, spool: Spool, name: str) -> None:
        self.spool, self.name = spool, name

    def __iter__(self) -> Iterator[SeedRecord]:
        return self.spool.of_split(self.name)


def _splits(collection: Collection, export: Any, spool: Spool) -> dict[str, _Split]:
    """Return the splits to write: the protocol's, or those that were read from files.

    A layout may hold all its splits in one file; what was read tells then which there are.
    """
    names = list(export.SPLITS)
    files = list(collection.official_files.all())
    if files:
        of_files = [file.split for file in files if file.split]
        placed = Placement.objects.filter(question__stage__collection=collection)
        found = set(placed.values_list("split", flat=True)) if not of_files else set()
        names = of_files or [name for name in names if name in found]
    return {name: _Split(spool, name) for name in names}


def _articles(
    collection: Collection, by_split: dict[str, _Split]
) -> Iterator[ArticleRecord] | None:
    """Return the articles that released passages link to; None where the files read had none."""
    files = collection.official_files.all()
    if files and all(file.split for file in files):
        return None
    titles: set[str] = set()
    for seeds in by_split.values():
        titles.update(linked_titles(seeds))
    return articles_of(collection, sorted(titles))


def _kept(spool: Spool, by_split: dict[str, _Split]) -> dict[str, int]:
    """Return how many questions each split holds."""
    found = Counter(
        question["split"]
        for seed in spool.seeds()
        for question in seed["questions"]
        if is_kept(question)
    )
    return {name: found[name] for name in by_split}


def _manifest(
    collection: Collection, counts: dict[str, Any], digests: dict[str, dict[str, Any]]
) -> bytes:
    corpus = collection.corpus
    value = {
        "collection": collection.slug,
        "title": collection.title,
        "protocol": collection.protocol,
        "protocol_version": collection.protocol_version,
        "seed": collection.seed,
        "corpus": {
            "name": corpus.name,
            "language": corpus.language,
            "source": corpus.source,
            "licence": corpus.licence_name,
            "licence_url": corpus.licence_url,
        },
        "parameters": collection.parameters,
        "changes": changes(collection),
        "counts": counts,
        "files": digests,
    }
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"


def _place(made: Path, base: Path, *, fixed: bool) -> tuple[Path, bool]:
    """Return where the release belongs and whether it is there already; raises ReleaseError."""
    for number in count(1):
        target = base if number == 1 else base.with_name(f"{base.name}-{number}")
        if folder.is_free(target):
            return target, False
        if target.is_dir() and folder.is_same(made, target):
            return target, True
        if fixed:
            raise ReleaseError(
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
    """Return the row of the release, and whether it was made now."""
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=collection.pk)
        last = Release.objects.filter(collection=collection).order_by("-number").first()
        if last is not None and last.manifest == manifest:
            if not Path(last.folder).exists():
                Release.objects.filter(pk=last.pk).update(folder=str(target))
                last.folder = str(target)
            return last, False
        made = Release.objects.create(
            collection=collection,
            number=last.number + 1 if last else 1,
            folder=str(target),
            manifest=manifest,
            counts=counts,
            supersedes=last,
            created_at=now,
        )
    return made, True
