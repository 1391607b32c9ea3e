"""What the commands that read a corpus in have in common: options, and refusals in one line."""

import os
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from collector.ingest.errors import BookError, DocumentError, DumpError
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.licences import ADDRESSES
from collector.ingest.store import AlreadyReading, storing_failure
from collector.language_names import language_argument
from common.command_line import processes


class IngestCommand(BaseCommand):
    """A command that reads files into a corpus. `files_are`, `texts`: what its help calls them."""

    files_are = "file to read"
    texts = "text"

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """Return Django's parser, with the example on a line of its own."""
        kwargs["formatter_class"] = RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

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
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object, no progress"
        )


def corpus_options(options: Mapping[str, Any]) -> CorpusOptions:
    """Return what the options say of the corpus."""
    return CorpusOptions(
        slug=options["corpus"],
        name=options["name"],
        language=options["language"],
        licence=options["licence"],
        licence_url=options["licence_url"],
    )


@contextmanager
def told_in_one_line(last: str) -> Iterator[None]:
    """Turn what reading in raises into a CommandError; `last`: after what it goes on."""
    try:
        yield
    except (BookError, DocumentError, DumpError, AlreadyReading) as error:
        raise CommandError(str(error)) from error
    except (DatabaseError, OSError) as error:
        raise CommandError(storing_failure(error)) from error
    except KeyboardInterrupt:
        raise CommandError(f"stopped; the same command goes on after the last {last}.") from None


@contextmanager
def counted() -> Iterator[Callable[[str, int, int], None]]:
    """Yield what is told (what, done, total), and draws a bar for each, where somebody looks."""
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
