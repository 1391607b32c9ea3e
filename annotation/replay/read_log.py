"""Reads the private log of a collection back, and refuses what is none."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from annotation.release.log import (
    KINDS,
    VERSION,
    Act,
    AgreeingLine,
    AssignmentLine,
    CollectionLine,
    DecisionLine,
    DialogLine,
    FilesLine,
    HopsLine,
    JudgedLine,
    Line,
    Log,
    LogError,
    MadeUpLine,
    MoveLine,
    RevisionLine,
    SeedLine,
    StatementLine,
    TextLine,
    TicketLine,
    UnitLine,
)
from annotation.replay.told_dialogs import check_dialogs


def read_log(path: Path) -> Log:
    """Return the log in the file; raises LogError naming the file and the line."""
    found: dict[type[Line], list[Any]] = {kind: [] for kind in KINDS.values()}
    acts: list[Act] = []
    for line in _lines(path):
        if isinstance(line, Act):
            acts.append(line)
        else:
            found[type(line)].append(line)
    if len(found[CollectionLine]) != 1 or len(found[FilesLine]) != 1:
        raise LogError(f"{path}: it is not whole; write it again with export_dataset --log.")
    collection = found[CollectionLine][0]
    if collection.version != VERSION:
        raise LogError(f"{path}: it is of version {collection.version}, this reads {VERSION}.")
    log = Log(
        collection=collection,
        files=found[FilesLine][0].files,
        texts=found[TextLine],
        revisions=found[RevisionLine],
        statements=found[StatementLine],
        seeds=found[SeedLine],
        units={line.unit: line for line in found[UnitLine]},
        assignments=found[AssignmentLine],
        tickets={line.assignment: line for line in found[TicketLine]},
        dialogs=found[DialogLine],
        moves=_moves(found[MoveLine]),
        made_up=found[MadeUpLine],
        decisions=found[DecisionLine],
        acts=acts,
        agreeing=found[AgreeingLine],
        hops=found[HopsLine],
        judged=found[JudgedLine],
    )
    missing = {one.unit for one in log.assignments} - set(log.units)
    if "" in missing:
        raise LogError(
            f"{path}: an earlier version wrote it, which told nothing of live dialogs; write it "
            "again with export_dataset --log."
        )
    if missing:
        raise LogError(f"{path}: it names no items of the unit {min(missing)!r}.")
    try:
        check_dialogs(log)
    except LogError as error:
        raise LogError(f"{path}: {error}") from None
    return log


def _moves(lines: Iterable[MoveLine]) -> dict[int, list[MoveLine]]:
    """Return the moves by the numbers of their dialogs."""
    moves: dict[int, list[MoveLine]] = {}
    for line in lines:
        moves.setdefault(line.dialog, []).append(line)
    return moves


def _lines(path: Path) -> Iterator[Line]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    value = json.loads(line)
                    yield KINDS[value.pop("is")].model_validate(value)
                except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
                    wrong = error.errors()[0]["loc"] if isinstance(error, ValidationError) else ""
                    where = f" ({'.'.join(map(str, wrong))})" if wrong else ""
                    raise LogError(
                        f"{path}: line {number}{where} is none of a log that export_dataset --log "
                        "has written."
                    ) from None
    except OSError as error:
        raise LogError(f"{path}: it cannot be read ({error.strerror}).") from None
