"""Ingests dump files into a corpus, each from where its reading stopped last time."""

import hashlib
import os
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError
from django.db import DatabaseError
from django.db.models import Max

from collector.code_points import CodePoints
from collector.ingest.dump import Dump, Site, direction_of
from collector.ingest.errors import BookError, DocumentError, DumpError
from collector.ingest.licences import ADDRESSES, default_licence, licence_address
from collector.ingest.link_resolution import resolve_links
from collector.ingest.records import read_records
from collector.ingest.store import AlreadyReading, store_records, storing_failure
from collector.language_names import language_argument, language_name
from collector.models.corpus import (
    Article,
    Corpus,
    CorpusKind,
    CorpusState,
    DumpFile,
    DumpFileState,
    Paragraph,
)
from common.command_line import Printout, ResultCommand, processes
from common.storable import NotStorable, storable

HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class CorpusOptions:
    """What the dump does not say or says wrongly; blank: as the dump says."""

    slug: str
    name: str = ""
    language: str = ""
    licence: str = ""
    licence_url: str = ""


@dataclass
class Progress:
    """How far one file has been read; `share` is 0 … 1, the rest of this run alone."""

    file: str
    share: float = 0.0
    pages: int = 0
    n_bytes: int = 0
    seconds: float = 0.0
    n_resolved: int | None = field(default=None)


Report = Callable[[Progress], None]


def ingest_files(
    paths: Sequence[Path],
    options: CorpusOptions,
    *,
    processes: int = 1,
    report: Report = lambda progress: None,
) -> Corpus:
    """Read `paths` into the corpus, count its links, mark it ready; return it.

    Files that were read to their end are passed over, others resume after the last page stored.
    Raises DumpError (all that was stored before stays; the corpus is marked failed), also for a new
    file where collections use the corpus, and what the database raises.
    """
    if options.licence and not options.licence_url:
        licence_address(options.licence)
    for path in paths:
        Dump(path).close()
    corpus = None
    for path in paths:
        corpus = _ingest_file(path, options, processes, report)
    if corpus is None:
        raise DumpError("no file was given; name one or several dumps.")
    total = max(1, Paragraph.objects.filter(article__corpus=corpus).count())
    resolve_links(
        corpus, lambda done: report(Progress("links", share=done / total, n_resolved=done))
    )
    if options.licence:
        corpus.licence_name = options.licence
        corpus.licence_url = options.licence_url or licence_address(options.licence)
    elif not corpus.licence_name:
        newest = Article.objects.filter(corpus=corpus).aggregate(at=Max("revision_timestamp"))["at"]
        corpus.licence_name = default_licence(corpus.base_url, newest)
        corpus.licence_url = licence_address(corpus.licence_name)
    if options.name:
        corpus.name = options.name
    files = list(corpus.dump_files.order_by(CodePoints("name")))
    corpus.source = "\n".join(file.name for file in files)
    totals: dict[str, Any] = {}
    for file in files:
        for key, value in file.counts.items():
            if isinstance(value, int):
                totals[key] = totals.get(key, 0) + value
    linked = Paragraph.objects.filter(article__corpus=corpus, n_links_in_corpus__gt=0)
    totals["paragraphs_linked_in_corpus"] = linked.count()
    corpus.counts = totals
    unfinished = any(file.state != DumpFileState.DONE for file in files)
    corpus.state = CorpusState.FAILED if unfinished else CorpusState.READY
    corpus.save()
    return corpus


def _ingest_file(path: Path, options: CorpusOptions, processes: int, report: Report) -> Corpus:
    dump = Dump(path, threads=processes)
    try:
        corpus = _corpus_of(dump.site, options, dump.name)
        dump_file = _dump_file_of(corpus, path)
        if dump_file.state == DumpFileState.DONE:
            return corpus
        used = corpus.collections.order_by("slug").first()
        if used is not None:
            name = dump_file.name
            if not dump_file.pages_done:
                dump_file.delete()
            raise DumpError(
                f"The collection {used.slug} uses the corpus {corpus.slug}, so it stays as it is; "
                f"read {name} into a corpus of its own, together with the files that belong to it."
            )
        _mark(corpus, dump_file, CorpusState.INGESTING, DumpFileState.READING)
        try:
            site = replace(dump.site, language=corpus.language)
            started = time.monotonic()
            before = dump_file.pages_done
            for batch in read_records(dump, site, processes, skip=before):
                store_records(dump_file, batch)
                report(
                    Progress(
                        dump.name,
                        share=dump.source.position() / max(1, dump.source.size),
                        pages=dump_file.pages_done - before,
                        n_bytes=dump.n_bytes,
                        seconds=time.monotonic() - started,
                    )
                )
            seconds = time.monotonic() - started
            dump_file.counts["bytes"] = dump.n_bytes
            dump_file.counts["seconds"] = round(dump_file.counts.get("seconds", 0) + seconds, 2)
        except DumpError as error:
            _mark(corpus, dump_file, CorpusState.FAILED, DumpFileState.FAILED, str(error))
            raise
        _mark(corpus, dump_file, CorpusState.INGESTING, DumpFileState.DONE)
        return corpus
    finally:
        dump.close()


def _corpus_of(site: Site, options: CorpusOptions, name: str) -> Corpus:
    language = options.language or site.language
    told = {
        "name": options.name or options.slug,
        "language": language,
        "direction": direction_of(language),
        "site_name": site.name,
        "base_url": site.base_url,
    }
    licence = {"licence_name": options.licence, "licence_url": options.licence_url}
    try:
        storable(Corpus(slug=options.slug, **told, **licence))
    except NotStorable as error:
        raise DumpError(str(error)) from None
    corpus, _ = Corpus.objects.get_or_create(slug=options.slug, defaults=told)
    if corpus.kind != CorpusKind.WIKI:
        raise DumpError(f"The corpus {corpus.slug} holds no wiki; give {name} one of its own.")
    if corpus.language != language:
        raise DumpError(
            f"{name} is in {language_name(language)}, the corpus {corpus.slug} in "
            f"{language_name(corpus.language)}; give it a corpus of its own, or say "
            f"--language {corpus.language} if the file is wrong."
        )
    host, known = urlsplit(site.base_url).hostname, urlsplit(corpus.base_url).hostname
    if host and known and host != known:
        raise DumpError(
            f"{name} comes from {host}, the corpus {corpus.slug} from {known}; give the file a "
            "corpus of its own."
        )
    return corpus


def _dump_file_of(corpus: Corpus, path: Path) -> DumpFile:
    """Return the row of the file, new or known by its name, size and first mebibyte."""
    size = path.stat().st_size
    dump_file, created = DumpFile.objects.get_or_create(
        corpus=corpus,
        name=path.name,
        defaults={"size_bytes": size, "head_sha256": _head_sha256(path, size)},
    )
    if created:
        return dump_file
    # A file that was cut short and downloaded again begins as before and is longer.
    longer = size > dump_file.size_bytes and dump_file.state != DumpFileState.DONE
    head = _head_sha256(path, dump_file.size_bytes)
    if head != dump_file.head_sha256 or not (longer or size == dump_file.size_bytes):
        raise DumpError(
            f"{path.name} differs from the file of that name which the corpus {corpus.slug} has "
            "read; rename it, or ingest it into a corpus of its own."
        )
    if longer:
        dump_file.size_bytes, dump_file.head_sha256 = size, _head_sha256(path, size)
        dump_file.save(update_fields=["size_bytes", "head_sha256"])
    return dump_file


def _head_sha256(path: Path, n_bytes: int) -> str:
    with path.open("rb") as file:
        return hashlib.sha256(file.read(min(n_bytes, HEAD_BYTES))).hexdigest()


def _mark(
    corpus: Corpus, dump_file: DumpFile, of_corpus: str, of_file: str, error: str = ""
) -> None:
    dump_file.state, dump_file.error = of_file, error
    dump_file.save(update_fields=["state", "error", "counts"])
    corpus.state = of_corpus
    corpus.save(update_fields=["state"])


class IngestCommand(ResultCommand):
    """A command that reads files into a corpus. `files_are`, `texts`: what its help calls them.

    one: what is read at a time, after which a stopped command goes on.
    """

    json_help = "print one JSON object, no progress"
    one = "page"

    files_are = "file to read"
    texts = "text"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options of the corpus, and how to read."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=self.files_are)
        parser.add_argument("--corpus", required=True, help="slug of the corpus, new or not")
        parser.add_argument("--name", default="", help="the corpus's name, as people read it")
        parser.add_argument(
            "--language",
            type=language_argument,
            default="",
            help="code, if the files name a wrong one",
        )
        named = ", ".join(ADDRESSES)
        parser.add_argument(
            "--licence",
            default="",
            help=f"licence of the {self.texts}: {named}, or any name with --licence-url",
        )
        parser.add_argument("--licence-url", default="", help="address of the licence's text")
        parser.add_argument(
            "--processes", type=processes, default=os.cpu_count() or 1, help="default: one per core"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Read the files; raises CommandError with one line for what cannot be read or stored."""
        wanted = CorpusOptions(
            slug=options["corpus"],
            name=options["name"],
            language=options["language"],
            licence=options["licence"],
            licence_url=options["licence_url"],
        )
        try:
            corpus, more, lines = self.read(options, wanted)
        except (BookError, DocumentError, DumpError, AlreadyReading) as error:
            raise CommandError(str(error)) from error
        except (DatabaseError, OSError) as error:
            raise CommandError(storing_failure(error)) from error
        except KeyboardInterrupt:
            told = f"stopped; the same command goes on after the last {self.one}."
            raise CommandError(told) from None
        if corpus.licence_name == "unknown":
            lines.append(f"Name the licence of the {self.texts}: run this again with --licence.")
        value = {
            "corpus": corpus.slug,
            "state": corpus.state,
            "language": corpus.language,
            "direction": corpus.direction,
            "licence": corpus.licence_name,
            "counts": corpus.counts,
        }
        return value | more, lines

    def read(
        self, options: dict[str, Any], wanted: CorpusOptions
    ) -> tuple[Corpus, dict[str, Any], list[str]]:
        """Return the corpus, what --json prints beside it, and the lines that people read."""
        raise NotImplementedError


@contextmanager
def counted(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Yield what is called with (what, done, total) and draws a bar for each, unless `quiet`."""
    if quiet:
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)

        yield report
