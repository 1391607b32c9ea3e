"""Reads a published dataset's official files in, as a collection of its own."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from rich.console import Console

from annotation.models import SplitAssignment
from annotation.release.official_import import Source, import_official_files
from collector.language_names import language_argument
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import assignment
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand


class Command(ResultCommand):
    """import_dataset NAME --protocol PROTOCOL FILES…."""

    help = (
        "Read official files in, as a finished collection: to replay it, compare with it or "
        f"export it again. Example: {MANAGE} import_dataset published --protocol PROTOCOL "
        "train.json dev.json context_articles.json"
    )

    refusals = (ProtocolError, ActionError, ValueError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="of the new collection: letters, digits, hyphens")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILES")
        parser.add_argument("--protocol", required=True)
        parser.add_argument(
            "--language", type=language_argument, default="en", help="of the text (default: en)"
        )
        parser.add_argument("--licence", default="", help="of the text, such as 'CC BY-SA 4.0'")
        parser.add_argument("--licence-url", default="", help="where that licence is written")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="change one of the protocol's parameters, for work on what is read in",
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Read them all, or say in one line what is wrong."""
        files = Contents(options["files"])
        source = Source(options["language"], options["licence"], options["licence_url"])
        name = options["name"]
        changed = dict(assignment(each) for each in options["set"])
        with Console(stderr=True).status("Reading the files"):
            collection = import_official_files(
                name, options["protocol"], files, source, timezone.now(), changed
            )
        assignments = SplitAssignment.objects.filter(question__stage__collection=collection)
        counts = dict(Counter(assignments.order_by("pk").values_list("split", flat=True)))
        spread = ", ".join(f"{number} {split}" for split, number in counts.items()) or "0"
        return {"collection": name, "questions": counts}, [
            f"Read {spread} questions into the collection {name!r}. "
            f"Next: {MANAGE} report {name}, or {MANAGE} export_dataset {name}"
        ]


class Contents(Mapping[str, bytes]):
    """What files hold, by their names; each is read when it is asked for, and not kept."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = {str(path): path for path in paths}

    def __getitem__(self, name: str) -> bytes:
        """Return the content of a file; raises CommandError where it cannot be read."""
        path = self._paths[name]
        try:
            return path.read_bytes()
        except OSError as error:
            raise CommandError(
                f"{path}: it cannot be read ({error.strerror}); give a file."
            ) from None

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._paths)

    def __len__(self) -> int:
        """Return how many files there are."""
        return len(self._paths)
