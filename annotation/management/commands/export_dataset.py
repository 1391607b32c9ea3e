"""Writes a release of a collection: official files, votes, card, licence, checksums."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from annotation.release.log import LogError
from annotation.release.publish_release import PublishedRelease, publish_release
from annotation.release.release_files import Watcher
from annotation.release.release_folder import push_to_hub, write_zip
from collector.lookup import collection_named
from collector.models import Collection
from collector.protocols.loading import ProtocolError
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand


class Command(ResultCommand):
    """export_dataset NAME [--out DIR] [--zip] [--push-to-hub OWNER/DATASET]."""

    help = (
        "Write a release: the protocol's official files, all votes as Parquet, dataset card, "
        "licence, attribution, Croissant metadata and checksums, every split as Parquet. "
        f"Example: {MANAGE} export_dataset pilot --out releases/pilot"
    )

    refusals = (ActionError, LogError, ProtocolError, ValueError)

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
        parser.add_argument(
            "--zip", action="store_true", help="also write it as one ZIP, beside its folder"
        )
        parser.add_argument(
            "--push-to-hub",
            metavar="OWNER/DATASET",
            help="also put it on the Hugging Face hub, private unless --public; without what is "
            "withheld. The hub keeps the history of what was put there. The token is in HF_TOKEN; "
            "needs make setup-hub",
        )
        parser.add_argument(
            "--public", action="store_true", help="with --push-to-hub: for everybody to see"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Write it, or say in one line why not."""
        collection = collection_named(options["name"])
        if options["public"] and not options["push_to_hub"]:
            raise CommandError("--public says how --push-to-hub puts it on the hub: give that too.")
        issued = self._issue(collection, options["out"], options["log"])
        handed_on = self._hand_on(issued, options)
        release = issued.release
        value = {
            "folder": str(issued.folder),
            "private": str(issued.private) if issued.private else None,
            "release": release.number,
            "new": issued.is_new,
            "counts": release.counts,
            "files": release.manifest,
            **handed_on,
        }
        spread = ", ".join(f"{n} {split}" for split, n in release.counts["questions"].items())
        lines = [f"Nothing has changed since release {release.number}: {spread}."]
        if issued.is_new:
            lines = [f"Release {release.number} of {collection.slug}: {spread} questions."]
        if missing := release.counts.get("not_said"):
            lines.append(
                f"Not said in its card: {', '.join(missing)}. Its page Releases asks for it."
            )
        lines += [str(issued.folder), *handed_on.values()]
        if issued.private:
            lines.append(f"{issued.private} holds the answers withheld: do not publish it.")
        return value, lines

    def _hand_on(self, issued: PublishedRelease, options: dict[str, Any]) -> dict[str, str]:
        """Return where else the release is now, by "zip" and "hub"."""
        places: dict[str, str] = {}
        if options["zip"]:
            places["zip"] = str(write_zip(issued.release, issued.folder))
        if options["push_to_hub"]:
            name, is_public = options["push_to_hub"], options["public"]
            places["hub"] = push_to_hub(issued.release, issued.folder, name, is_public=is_public)
        return places

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
