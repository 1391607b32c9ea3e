"""Prints what a collection has brought: the paper's own tables, the outcomes, the pay."""

import random
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rich.console import Console

from annotation.metrics.result import ScoreError
from annotation.reports import hand_labels
from annotation.reports.collection import tables_of, tables_of_predictions
from annotation.tables import charts
from annotation.tables.table import Table
from annotation.tables.terminal import table_lines
from collector.lookup import collection_named
from collector.models import Collection
from collector.protocols.loading import ProtocolError
from common.command_line import MANAGE, Printout, ResultCommand, seed


class Command(ResultCommand):
    """report NAME."""

    help = (
        "Print the paper's own tables for this collection, what became of its questions, and "
        f"the pay per stage. Example: {MANAGE} report pilot --json"
    )

    refusals = (ProtocolError, ScoreError)
    json_help = "numbers unrounded, by table"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        instead = parser.add_mutually_exclusive_group()
        for name, helps in {
            "predictions": "how these do instead, in the official layout with a release's ids",
            "sample": "write the paper's sample for labelling by hand to this new CSV file",
            "labels": "the paper's table of that sample, labelled",
        }.items():
            instead.add_argument(f"--{name}", type=Path, metavar="FILE", help=helps)
        parser.add_argument(
            "--scheme",
            metavar="NAME",
            help="count --labels by this label scheme of the protocol (its folder labels/)",
        )
        parser.add_argument(
            "--figure",
            type=Path,
            metavar="SVG",
            help="write what is drawn, the flow from one facet's labels to another's, to this new "
            "file",
        )
        parser.add_argument(
            "--files",
            type=Path,
            metavar="FOLDER",
            help="also write each table as CSV, and its shares with intervals as SVG, in this new "
            "folder",
        )
        parser.add_argument("--seed", type=seed, help="of the sample (default: the collection's)")

    def result(self, options: dict[str, Any]) -> Printout:
        """Print the tables, or say in one line why not."""
        collection = collection_named(options["name"])
        if options["scheme"] and not options["labels"]:
            raise CommandError("--scheme says how to count labels: give --labels FILE.")
        if options["figure"] and (options["predictions"] or options["sample"]):
            raise CommandError("--figure draws labels: leave --predictions and --sample out.")
        if options["sample"]:
            return self._sample(collection, options)
        with Console(stderr=True).status("Reading questions and votes"):
            tables = _tables(collection, options)
        if options["figure"]:
            hand_labels.write_flow(tables, options["figure"])
        if options["files"]:
            charts.write_files(tables, options["files"])
        return {table.name: table.plain() for table in tables}, [
            table_lines(tables, in_colour=self.stdout.isatty())
        ]

    def _sample(self, collection: Collection, options: dict[str, Any]) -> Printout:
        """Write the sample and say how to go on."""
        path = options["sample"]
        seed = collection.random_seed if options["seed"] is None else options["seed"]
        number = hand_labels.write_sample(collection, path, random.Random(seed))
        return {"file": str(path), "rows": number}, [
            f"Wrote {number} rows to {path}. Fill in the last columns, then: "
            f"{MANAGE} report {collection.slug} --labels {path}"
        ]


def _tables(collection: Collection, options: dict[str, Any]) -> list[Table]:
    """Return the tables asked for."""
    if options["predictions"]:
        return tables_of_predictions(collection, options["predictions"])
    if options["labels"]:
        return hand_labels.tables_of_labels(collection, options["labels"], options["scheme"] or "")
    return tables_of(collection)
