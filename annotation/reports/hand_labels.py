"""A sample of a collection for labelling by hand: written as CSV, and read back with labels."""

import csv
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from django.template.loader import render_to_string

from annotation.metrics.result import ScoreError
from annotation.protocols.contracts import REPORT
from annotation.records.schema import SeedRecord, is_simulated
from annotation.reports.collection import identified
from annotation.tables.labels import tables_of
from annotation.tables.table import Table
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.protocols.stage_tables import scheme_for
from common.spreadsheet import csv_lines

ENCODING = "utf-8-sig"
# The drawing of a flow, in a page and alone.
FLOW = "dashboard/releases/flow.svg"
# The column that tells whether a simulated worker made the question or its answer.
MARK, YES = "simulated", "yes"


def write_sample(collection: Collection, path: Path, rng: random.Random) -> int:
    """Write the sample as a new file and return how many rows it has.

    Raises ProtocolError where the protocol has none, ScoreError for a file that is there already:
    it may hold labels.
    """
    draw = get_protocol(collection.protocol).part(REPORT, "sample").sample
    simulated: set[str] = set()

    def noted() -> Iterator[SeedRecord]:
        for seed in identified(collection):
            simulated.update(each["id"] for each in seed["questions"] if is_simulated(each))
            yield seed

    rows = draw(noted(), parameters_of(collection), rng)
    if not rows:
        raise ScoreError("Nothing is in the dataset yet to draw from; try when something is kept.")
    rows = [{"id": row["id"], MARK: YES if (row["id"] in simulated) else "", **row} for row in rows]
    try:
        with path.open("x", encoding=ENCODING, newline="") as file:
            file.writelines(csv_lines([list(rows[0]), *(row.values() for row in rows)]))
    except FileExistsError:
        raise ScoreError(f"{path} is there already and may hold labels: name a new file.") from None
    except OSError as error:
        raise ScoreError(f"{path}: it cannot be written ({error.strerror}).") from None
    return len(rows)


def tables_of_labels(collection: Collection, path: Path, scheme: str = "") -> list[Table]:
    """Return the protocol's tables of a labelled sample, or those of one of the label schemes.

    Raises ProtocolError and ScoreError.
    """
    protocol = get_protocol(collection.protocol)
    count: Callable[[Iterable[Mapping[str, str]]], list[Table]]
    if scheme:
        count = partial(tables_of, scheme=scheme_for(collection, scheme))
    else:
        labelled = protocol.part(REPORT, "labelled").labelled
        count = partial(labelled, parameters=parameters_of(collection))
    try:
        with path.open(encoding=ENCODING, newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScoreError(f"{path}: it cannot be read ({error}); give the labelled CSV.") from None
    tables: list[Table] = count(rows)
    simulated = sum(row.get(MARK) == YES for row in rows)
    head = f"With simulated work: {simulated:,} of {len(rows):,} rows." if simulated else ""
    return [replace(table, simulated=head) for table in tables]


def write_flow(tables: Iterable[Table], path: Path) -> None:
    """Write the first flow that is drawn of the tables as a new SVG file.

    Raises ScoreError where none is drawn, or the file is there already.
    """
    flow = next((table.flow for table in tables if table.flow), None)
    if flow is None:
        raise ScoreError(
            f"{path}: there is nothing to draw: label by a scheme of two facets or more first."
        )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(render_to_string(FLOW, {"flow": flow, "alone": True}))
    except FileExistsError:
        raise ScoreError(f"{path} is there already: name a new file.") from None
    except OSError as error:
        raise ScoreError(f"{path}: it cannot be written ({error.strerror}).") from None
