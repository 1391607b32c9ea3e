"""Builds what tests of the graph start from: a small wiki that is read in as a dump."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from collector.graph.files import Page
from collector.graph.graph_builder import build
from collector.graph.graph_file import Graph
from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.ingest.tests.dumps import dump, write
from collector.models import Corpus

ISLANDS = {
    "Ada": "'''Ada''' lived in [[Hollin]], in [[hollin]], [[Old Hollin|there]], with [[Ada|her]].",
    "Hollin": "'''Hollin''' is a town on [[Quarnsey#Coast|the island]].\n\nIt is for [[Ada]].",
    "Old Hollin": "#REDIRECT [[Hollin]]",
    "The town": "#REDIRECT [[Old Hollin]]",
    "Quarnsey": "* [[Hollin]]\n'''Quarnsey''' is an island with [[the town]] and [[Round]], near "
    "[[Far away]], not [[Mercury]].",
    "Round": "#REDIRECT [[Square]]",
    "Square": "#REDIRECT [[Round]]",
    "Mercury": "'''Mercury''' may refer to:\n* [[Ada]]\n{{disambiguation}}",
    "List of towns": "* [[Hollin]]\n* [[Old Hollin]]\n* [[Ada]]",
    "Harbour": "'''Harbour''' is written of in [[List of towns]] and [[Quarnsey]].",
}
# Who leads to whom by first paragraphs; the list begins with no running text.
EDGES = {
    "Ada": {"Hollin"},
    "Hollin": {"Quarnsey"},
    "Quarnsey": {"Hollin"},
    "Harbour": {"Quarnsey"},
}


def make_islands(folder: Path, pages: dict[str, str] = ISLANDS, slug: str = "islands") -> Corpus:
    """Return a corpus that was read from a dump of `pages` (title → wikitext)."""
    path = write(folder / f"{slug}.xml", dump(pages))
    return ingest_files([path], CorpusOptions(slug=slug))


def graph_of_links(links: Sequence[Sequence[int]]) -> Graph:
    """Return the graph of pages 0 … that link to others by number, some of which are missing."""
    pages = [Page(10 * n, n + 500, str(n), "", n + 1000) for n in range(len(links))]

    def links_of(paragraphs: Sequence[int]) -> list[str]:
        return [json.dumps([[0, 1, str(b)] for b in links[pk - 1000]]) for pk in paragraphs]

    with tempfile.TemporaryDirectory() as folder:
        return Graph(build(Path(folder), [pages[:4], pages[4:]], links_of))
