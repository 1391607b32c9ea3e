"""Builds the hyperlink graph of a corpus."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from collector.graph.files import build_graph, path_of
from collector.graph.graph_file import GraphError
from collector.lookup import corpus_named
from common.command_line import MANAGE, Printout, ResultCommand, processes


class Command(ResultCommand):
    """build_graph CORPUS [--processes N]."""

    help = (
        "Build the graph of the links in first paragraphs; run it again at any time, nothing is "
        f"done twice. Example: {MANAGE} build_graph enwiki --processes 4"
    )

    refusals = (GraphError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("corpus")
        parser.add_argument(
            "--processes", type=processes, default=os.cpu_count() or 1, help="how many read links"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Build it, or say in one line why not."""
        if options["processes"] < 1:
            raise CommandError("--processes must be 1 or more.")
        corpus = corpus_named(options["corpus"])
        row, built = build_graph(corpus, processes=options["processes"], progress=self._progress)
        if self.stderr.isatty():
            self.stderr.write("")
        figures = ("n_nodes", "n_edges", "size_bytes", "sha256", "seconds")
        value = {"corpus": corpus.slug, "built": built, "file": str(path_of(row))}
        done = f"Built in {row.seconds:g} s" if built else "Nothing to do, it is there"
        return value | {name: getattr(row, name) for name in figures}, [
            f"{done}: {row.n_edges:,} links between {row.n_nodes:,} first paragraphs, "
            f"{row.size_bytes:,} bytes in {path_of(row)}."
        ]

    def _progress(self, what: str, share: float) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{share:4.0%}  {what:<50}", ending="")
