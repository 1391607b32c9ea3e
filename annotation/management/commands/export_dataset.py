"""Writes a release of a collection: official files, votes, card, licence, checksums."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from annotation.release.publish_release import PublishedRelease, publish_release
from annotation.release.release_files import Watcher
from annotation.replay.log import LogError
from collector.lookup import collection_named
from collector.models import Collection
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE


class Command(BaseCommand):
    """export_dataset NAME [--out DIR]."""

    help = (
        "Write a release: the protocol's official files, all votes as Parquet, dataset card, "
        "licence, attribution, Croissant metadata and checksums. "
        f"Example: {MANAGE} export_dataset pilot --out releases/pilot"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="a new folder; by default releases/NAME, or the next free releases/NAME-2, …",
        )
        parser.add_argument(
            "--log",
            type=Path,
            metavar="FILE",
            help="also keep, in private, everything that replay_log needs to make it again",
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Write it, or say in one line why not."""
        collection = collection_named(options["name"])
        try:
            issued = self._issue(collection, options["out"], options["log"])
        except (ActionError, LogError, ProtocolError, ValueError) as error:
            raise CommandError(str(error)) from None
        release = issued.release
        if options["json"]:
            self.stdout.write(
                json.dumps(
                    {
                        "folder": str(issued.folder),
                        "private": str(issued.private) if issued.private else None,
                        "release": release.number,
                        "new": issued.is_new,
                        "counts": release.counts,
                        "files": release.manifest,
                    }
                )
            )
            return
        spread = ", ".join(f"{n} {split}" for split, n in release.counts["questions"].items())
        if issued.is_new:
            self.stdout.write(f"Release {release.number} of {collection.slug}: {spread} questions.")
        else:
            self.stdout.write(f"Nothing has changed since release {release.number}: {spread}.")
        missing = release.counts.get("not_said") or []
        if missing:
            self.stdout.write(
                f"Not said in its card: {', '.join(missing)}. Its page Releases asks for it."
            )
        self.stdout.write(str(issued.folder))
        if issued.private:
            self.stdout.write(f"{issued.private} holds the answers withheld: do not publish it.")

    def _issue(
        self, collection: Collection, out: Path | None, log: Path | None
    ) -> PublishedRelease:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("Reading", total=collection.seeds.count())
            watcher = Watcher(
                say=lambda step: progress.update(task, description=step),
                advance=lambda: progress.advance(task),
            )
            return publish_release(collection, out, timezone.now(), watcher, log)
