"""Kills long work at each statement, begins it again, and says what is left: a script.

`python -m tests.killed_jobs KIND HOME [EVERY]`: of the points at which KIND can be killed each, or
each EVERYth. A point is before a statement of SQL, before or after a commit, and before whatever
changes a file. After the kill whoever starts does what is due, as jobs do, when the claim is over.
"""

import faulthandler
import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

FILES = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.chmod", "os.truncate", "fcntl.flock"}
MOST_SECONDS = 60
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
TEXT = "The harbour master of Hollin keeps the light, and tells nobody of it. "


@dataclass(frozen=True)
class Kind:
    """What lays the rows out, what is killed, and what is wrong after whoever came next."""

    lay_out: Callable[[], object]
    work: Callable[[], object]
    wrong: Callable[[], Iterator[str]]


class Killed:
    """Counts the points of this process, and kills it at one."""

    def __init__(self, at: int) -> None:
        self.at, self.n = at, 0

    def point(self) -> None:
        """Pass a point, or die at it."""
        self.n += 1
        if self.n == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def listen(self) -> None:
        """Count from now on."""
        from django.conf import settings
        from django.db import connection

        home, commit = str(settings.HOME), connection._commit

        def heard(event: str, given: tuple[Any, ...]) -> None:
            if event == "open" and not (isinstance(given[2], int) and given[2] & WRITES):
                return
            named = event == "fcntl.flock" or home in str(given[:1])
            if named and (event == "open" or event in FILES):
                self.point()

        def committed() -> None:
            self.point()
            commit()
            self.point()

        def stated(execute: Any, *given: Any) -> Any:
            self.point()
            return execute(*given)

        sys.addaudithook(heard)
        connection._commit = committed  # type: ignore[method-assign]
        connection.execute_wrappers.append(stated)


def forked(act: Callable[[], object]) -> int:
    """Return how a child ended that did this."""
    pid = os.fork()
    if not pid:
        status = 1
        # Whoever hangs says where, and ends.
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        try:
            act()
            status = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def next_process(later: datetime) -> None:
    """Do what a process of the jobs does that starts at that time, and all that is due then."""
    from annotation import jobs

    jobs.remove_left_files()
    for model, do in jobs.LONG_WORK.values():
        for pk in model.due(later):
            do(pk, later)
        jobs.remove_leftovers()


def run(kind: Kind, home: Path, every: int) -> dict[str, Any]:
    """Return how many points there were, and what was wrong after a kill at which."""
    from django.utils import timezone

    from common.long_work import SILENT

    site, template = home / "site", home / "template"
    assert forked(kind.lay_out) == 0
    shutil.copytree(site, template)

    def begin_anew() -> None:
        for path in site.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(template, site, dirs_exist_ok=True)

    def work(at: int) -> None:
        killed = Killed(at)
        killed.listen()
        kind.work()
        (home / "points").write_text(json.dumps([killed.n, *sys.modules]))

    def problems(found: Callable[[], Iterator[str]] = kind.wrong) -> list[str]:
        assert forked(lambda: (home / "wrong").write_text(json.dumps([*found()]))) == 0
        return json.loads((home / "wrong").read_text())  # type: ignore[no-any-return]

    def next_killed(at: int, later: datetime) -> None:
        Killed(at).listen()
        next_process(later)

    assert forked(lambda: work(0)) == 0
    n_points, *modules = json.loads((home / "points").read_text())
    for name in modules:
        # Once, here: it takes longer than the work.
        with suppress(ImportError):
            importlib.import_module(name)
    wrong = {"undisturbed": problems()}
    tried = range(1, n_points + 1, every)
    for at in tried:
        begin_anew()
        ended = forked(lambda at=at: work(at))  # type: ignore[misc]
        if ended != -signal.SIGKILL:
            wrong[str(at)] = [f"It ended with {ended}."]
            continue
        later = timezone.now() + 2 * SILENT
        status = forked(lambda later=later: next_process(later))  # type: ignore[misc]
        found = problems()
        # And where each try is killed.
        begin_anew()
        forked(lambda at=at: work(at))  # type: ignore[misc]
        for n in range(1, 4):
            later = timezone.now() + 2 * n * SILENT
            forked(lambda at=at, later=later: next_killed(at, later))  # type: ignore[misc]
        later += 2 * SILENT
        status = status or forked(lambda later=later: next_process(later))  # type: ignore[misc]
        wrong[str(at)] = found + problems(endless)
        if status:
            wrong[str(at)].append(f"The next ended with {status}.")
    return {
        "points": n_points,
        "killed": len(tried),
        "wrong": {at: found for at, found in wrong.items() if found},
    }


def all_files(*folders: Path) -> list[str]:
    """Return the files below, hidden ones too."""
    return sorted(str(path) for each in folders for path in each.rglob("*") if path.is_file())


def endless() -> Iterator[str]:
    """Yield what is not over after many tries, or was given up and left without a word."""
    from django.conf import settings

    from annotation.jobs import LONG_WORK, half_written
    from annotation.models import Release

    for kind, (model, _) in LONG_WORK.items():
        for row in model._default_manager.all():
            # Folds are left alone when their run is over.
            is_over = not row.is_going_on or kind == "fold"
            if not is_over or row.attempts > 3 or (row.state == "failed" and not row.message):
                yield f"{kind} is {row.state} after {row.attempts} tries: {row.message}"
    if left := half_written():
        yield f"There are {left}."
    places = {row.place for row in Release.objects.all()}
    releases = Path(settings.RELEASES)
    if releases.exists() and {*releases.iterdir()} != places:
        yield f"There are {[*releases.iterdir()]}, of which {places} are known."


def as_undisturbed(told: str) -> bool:
    """Return whether this is what was found where nothing was killed."""
    from django.conf import settings

    expected = settings.HOME.parent / "undisturbed"
    if not expected.exists():
        expected.write_text(told)
    return expected.read_text() == told


# A release.
def lay_out_release() -> None:
    from django.utils import timezone

    from annotation.models import ReleaseOrder
    from annotation.protocols.iirc.tests.island import island

    assert ReleaseOrder.ask(collection=island(), by="rita", asked_at=timezone.now())


def do_release() -> None:
    from annotation.jobs import do_long_work
    from annotation.models import ReleaseOrder

    do_long_work("release", ReleaseOrder.objects.get().pk)


def wrong_release() -> Iterator[str]:
    from django.conf import settings

    from annotation.models import Release, ReleaseOrder
    from annotation.release.release_folder import digests

    order = ReleaseOrder.objects.get()
    if order.state != "done" or order.attempts > 2:
        yield f"The order is {order.state} after {order.attempts} tries: {order.message}"
    folders = [path.name for path in Path(settings.RELEASES).iterdir()]
    if folders != ["pilot"]:
        yield f"There are {folders}."
    for row in Release.objects.all():
        if row.pk != order.release_id or row.number != 1:
            yield f"{row} is another's."
        if not row.place.is_dir() or digests(row.place) != row.manifest:
            yield f"{row} is not whole."


# An upload: sent, and read.
def lay_out_upload() -> None:
    """There is nothing before it."""


def send() -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.utils import timezone

    from collector.ingest.documents.uploads import upload_documents
    from collector.ingest.ingestion import CorpusOptions

    files = [(name, SimpleUploadedFile(name, (TEXT * 9 + name).encode())) for name in NAMES]
    upload_documents(CorpusOptions("handbook"), files, "rita", timezone.now())


NAMES = ("a.txt", "b.txt", "c.txt")


def do_upload() -> None:
    from annotation.jobs import do_long_work
    from collector.models import DocumentUpload

    send()
    do_long_work("upload", DocumentUpload.objects.get().pk)


def wrong_upload() -> Iterator[str]:
    from django.conf import settings

    from collector.models import Document, DocumentUpload

    names = sorted(Document.objects.values_list("external_id", flat=True))
    for upload in DocumentUpload.objects.all():
        if upload.attempts > 2:
            yield f"It was tried {upload.attempts} times."
        if upload.state == "done":
            if names != [*NAMES] or sorted(upload.outcome["added"]) != [*NAMES]:
                yield f"It is done, with {names} and {upload.outcome}."
            if upload.outcome["unchanged"]:
                yield f"{upload.outcome['unchanged']} are told to be as before."
        elif upload.state != "failed" or "did not all arrive" not in upload.message or names:
            yield f"It is {upload.state}: {upload.message}; {names}"
    if left := all_files(settings.HOME / "uploads"):
        yield f"There are {left}."


# A fold.
def lay_out_fold() -> None:
    from django.utils import timezone

    from annotation.splits.cross_validation import begin_run, table_of
    from annotation.splits.single_hop_review import decide, draw_sample
    from annotation.splits.tests.making import make_kept

    collection = make_kept(24)
    table = table_of(collection)
    assert table
    draw_sample(collection, table)
    for worker in ("wada", "wgrace"):
        decide(collection, worker, False, "rita", timezone.now())
    begin_run(collection, table, "rita", timezone.now())


def do_folds() -> None:
    from django.utils import timezone

    from annotation.jobs import LONG_WORK
    from annotation.models import Fold

    for pk in Fold.due(timezone.now()):
        LONG_WORK["fold"][1](pk, timezone.now())


def wrong_folds() -> Iterator[str]:
    from django.conf import settings

    from annotation.models import CrossValidation, Fold

    run = CrossValidation.objects.get()
    if run.state != "done" or run.attempts > 2 or not as_undisturbed(run.checksum):
        yield f"The run is {run.state} after {run.attempts} tries: {run.message}"
    for fold in Fold.objects.all():
        if fold.state != "done" or fold.attempts > 2:
            yield f"Fold {fold.number} is {fold.state} after {fold.attempts} tries: {fold.message}"
    if left := all_files(settings.HOME / "folds"):
        yield f"There are {left}."


# Indexes.
def lay_out_indexes() -> None:
    from annotation.protocols.iirc.tests.island import paragraphs
    from collector.models import Corpus

    paragraphs()
    Corpus.objects.update(state="ready")


def do_indexes() -> None:
    from collector.graph.files import build_graph
    from collector.models import Corpus
    from collector.retrieval.files import build_index
    from collector.retrieval.passages import build_passages

    corpus = Corpus.objects.get()
    for build in (build_index, build_passages, build_graph):
        build(corpus)


def wrong_indexes() -> Iterator[str]:
    from django.conf import settings

    # Whoever needs them next builds what is missing.
    do_indexes()
    found = all_files(settings.HOME / "retrieval", settings.HOME / "graphs")
    kept = [path for path in map(Path, found) if path.suffix != ".lock"]
    told = hashlib.sha256(b"".join(path.read_bytes() for path in kept)).hexdigest()
    if len(kept) != 3 or not as_undisturbed(told):
        yield f"There are {found}."


KINDS = {
    "release": Kind(lay_out_release, do_release, wrong_release),
    "upload": Kind(lay_out_upload, do_upload, wrong_upload),
    "fold": Kind(lay_out_fold, do_folds, wrong_folds),
    "index": Kind(lay_out_indexes, do_indexes, wrong_indexes),
}


def in_this_process(
    processes: int, read: Any, work: Iterator[Any], start: Any = None, *given: Any
) -> Iterator[Any]:
    """Read without processes of its own, which take a second to start."""
    if start:
        start(*given)
    yield from map(read, work)


class ReadHere:
    """Stands for the process that reads an upload, and reads it in this one."""

    returncode = 0

    def __init__(self, command: list[str], **how: object) -> None:
        self.work = command[-2:]

    def wait(self, seconds: float = 0) -> None:
        """Read it."""
        from collector.ingest.documents.uploads import work_on

        work_on(int(self.work[0]), self.work[1])

    def poll(self) -> int:
        """Return how it ended."""
        return 0


def answer_here(self: Any, *arguments: str, **environment: str) -> None:
    """Answer what a reader's process would, in this one."""
    lines = (self.folder / "asked.jsonl").read_text().splitlines()
    rows = [{"id": json.loads(line)["key"], "answer": "Nobody", "loss": 0.5} for line in lines]
    told = "".join(f"{json.dumps(row)}\n" for row in rows)
    (self.folder / "predictions.jsonl").write_text(told)


def main(name: str, home: Path, every: int = 1) -> None:
    """Kill it at each point, and print what came of it."""
    from tests.migrated_databases import move_into

    site = home / "site"
    site.mkdir(parents=True)
    move_into(site)
    os.environ |= {"COLLECTOR_HOME": str(site), "DJANGO_SETTINGS_MODULE": "collector.settings"}
    import django

    django.setup()
    from django.conf import settings

    from annotation.splits.training import ReaderProcess
    from collector.ingest.documents import files, ingestion, reading, uploads

    settings.RELEASES = site / "releases"
    uploads.subprocess.Popen = ReadHere  # type: ignore[attr-defined,misc]
    uploads.os.cpu_count = lambda: 1  # type: ignore[attr-defined]
    ingestion.BATCH = 1
    for module in (files, reading):
        module.in_processes = in_this_process  # type: ignore[assignment]
    ReaderProcess.run = answer_here  # type: ignore[method-assign]
    ReaderProcess.is_over = lambda self, wait_seconds=0.0: True  # type: ignore[method-assign]
    ReaderProcess.check = lambda self: None  # type: ignore[method-assign]
    print(json.dumps(run(KINDS[name], home, every)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
