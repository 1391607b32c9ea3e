"""Reads passages once and finds what connects them, in time that grows with their number."""

import tempfile
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


def survey(
    passages: Iterable[Passage], names: Sequence[Sequence[str]], table: PassageSetsTable
) -> Surveyed:
    """Return what connects the passages, which come in the order of their documents.

    names: of each document, by which others may name it.
    """
    import numpy

    reader, signatures = TermReader(), Signatures()
    cited = DocumentNames(reader, enumerate(names))
    documents: list[int] = []
    trees: list[int] = []
    waiting: list[Any] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with Columns(folder) as columns:
            postings = TermColumns(columns)
            for number, passage in enumerate(passages):
                numbers = reader.read(passage.text)
                postings.add(number, numbers)
                parts = [[each & ~CAPITAL for each in part] for part in numbers]
                cited.read(number, passage.document, parts)
                for document in passage.linked:
                    if document != passage.document:
                        cited.linked(number, document)
                waiting.append(numpy.array([each for part in parts for each in part], "<u8"))
                if len(waiting) == TEXTS_AT_ONCE:
                    signatures.add(waiting)
                    waiting = []
                documents.append(passage.document)
                trees.append(passage.tree)
            signatures.add(waiting)
            postings.flush()
        same = signatures.groups(table.near_duplicate_share)
        weights = reader.weights()
        found = connections(
            folder, numpy.array(documents, "<i8"), weights, table.max_documents_with_term, same
        )
    return Surveyed(documents, trees, same, found, cited.citations(weights))
