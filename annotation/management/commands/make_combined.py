"""Makes of a release a dataset in which some questions need nothing but their own text."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.baselines.training import check_training
from annotation.metrics.result import ScoreError
from annotation.protocols.contracts import COMBINED, Combined
from annotation.tables.terminal import table_lines
from collector.lookup import collection_named, corpus_named
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError, all_protocols, get_protocol
from common.command_line import MANAGE, Printout, ResultCommand, seed
from readers.trained import ReaderError


class Command(ResultCommand):
    """make_combined NAME --out DIR, with a file of each of the other datasets."""

    help = (
        "Write the latest release's training and dev questions with other datasets' questions "
        "among them, so that a model must also tell when nothing is missing. Example: "
        f"{MANAGE} make_combined pilot --out combined/pilot --DATASET train.json …"
    )

    refusals = (ProtocolError, ReaderError, ScoreError, ValueError, OSError)
    json_help = "numbers unrounded, by table"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="a collection that has a release")
        for dataset, said in _sources().items():
            parser.add_argument(f"--{dataset}", type=Path, metavar="FILE", help=said)
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
        parser.add_argument(
            "--corpus", metavar="NAME", help="whose names links are found by (the collection's)"
        )
        parser.add_argument("--seed", type=seed, default=0, help="of what is drawn (default: 0)")

    def result(self, options: dict[str, Any]) -> Printout:
        """Make it, or say in one line why not."""
        collection = collection_named(options["name"])
        if options["out"].exists():
            raise CommandError(f"{options['out']} is there already: name a new folder.")
        done = self._combined(collection, options)
        tables = {table.name: table.plain() for table in done.tables}
        return {**tables, "written": done.written}, [
            table_lines(done.tables, in_colour=self.stdout.isatty()),
            *(
                f"{options['out'] / name}: {number:,} questions"
                for name, number in done.written.items()
            ),
        ]

    def _combined(self, collection: Collection, options: dict[str, Any]) -> Combined:
        protocol, release = get_protocol(collection.protocol), collection.releases.first()
        if not protocol.has(COMBINED):
            raise CommandError(f"The protocol {protocol.name!r} combines with no other dataset.")
        if release is None:
            raise CommandError(
                f"{collection.slug} has no release yet: export_dataset {collection.slug} first."
            )
        sources = {name: options[name] for name in protocol.part(COMBINED).SOURCES}
        for name, path in sources.items():
            if path is None:
                raise CommandError(f"Which --{name}? {protocol.part(COMBINED).SOURCES[name]}.")
            check_training(protocol, [path], path)
        slug = options["corpus"]
        return protocol.part(COMBINED).combine(
            corpus_named(slug) if slug else collection.corpus,
            parameters_of(collection),
            release.place,
            sources,
            options["out"],
            options["seed"],
            lambda step: self.stderr.write(f"Reading the {step} …"),
        )


def _sources() -> dict[str, str]:
    """Return the datasets that any protocol is combined with, each with what file of it is read."""
    found: dict[str, str] = {}
    for protocol in all_protocols():
        if protocol.has(COMBINED):
            found |= protocol.part(COMBINED).SOURCES
    return found
