"""Reads passages once and finds what connects them, in time that grows with their number."""

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collector.array_files import Columns
from collector.retrieval.near_duplicates import Signatures
from collector.seeds.passage_sets.citations import DocumentNames
from collector.seeds.passage_sets.connections import CAPITAL, TermColumns, TermReader, connections
from collector.seeds.passage_sets.drawing import Surveyed
from collector.seeds.passage_sets.rules import PassageSetsTable

TEXTS_AT_ONCE = 500


class Passage(NamedTuple):
    """A passage, its document by number, what stands under one heading with it, and its links.

    `linked`: other documents by number.
    """

    document: int
    tree: int
    text: str
    linked: Sequence[int] = ()


class Reading:
    """What was read of passages, to be looked at by several rules; it is gone with its object."""

    def __init__(self, passages: Iterable[Passage], names: Sequence[Sequence[str]]) -> None:
        """Read the passages, which come in the order of their documents.

        names: of each document, by which others may name it.
        """
        import numpy

        self._reader, self._signatures = TermReader(), Signatures()
        self._cited = DocumentNames(self._reader, enumerate(names))
        self._documents: list[int] = []
        self._trees: list[int] = []
        self._folder = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        waiting: list[Any] = []
        with Columns(self._folder) as columns:
            postings = TermColumns(columns)
            for number, passage in enumerate(passages):
                numbers = self._reader.read(passage.text)
                postings.add(number, numbers)
                parts = [[each & ~CAPITAL for each in part] for part in numbers]
                self._cited.read(number, passage.document, parts)
                for document in passage.linked:
                    if document != passage.document:
                        self._cited.linked(number, document)
                waiting.append(numpy.array([each for part in parts for each in part], "<u8"))
                if len(waiting) == TEXTS_AT_ONCE:
                    self._signatures.add(waiting)
                    waiting = []
                self._documents.append(passage.document)
                self._trees.append(passage.tree)
            self._signatures.add(waiting)
            postings.flush()

    def surveyed(self, table: PassageSetsTable) -> Surveyed:
        """Return what connects the passages by some rules."""
        import numpy

        same = self._signatures.groups(table.near_duplicate_share)
        weights = self._reader.weights()
        found = connections(
            self._folder,
            numpy.array(self._documents, "<i8"),
            weights,
            table.max_documents_with_term,
            same,
        )
        citations = self._cited.citations(weights)
        return Surveyed(self._documents, self._trees, same, found, citations)


def survey(
    passages: Iterable[Passage], names: Sequence[Sequence[str]], table: PassageSetsTable
) -> Surveyed:
    """Return what connects the passages by some rules; see `Reading`."""
    return Reading(passages, names).surveyed(table)
