"""Reads the private log of a collection back, and refuses what cannot have been."""

import json
from collections.abc import Iterator
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
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import Role

# Nobody has ended these: their last answer has.
ENDS_ITSELF = (rules.Ending.ALL_ASKED, rules.Ending.UNANSWERABLE)


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
    moves: dict[int, list[MoveLine]] = {}
    for move in found[MoveLine]:
        moves.setdefault(move.dialog, []).append(move)
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
        moves=moves,
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


def check_dialogs(log: Log) -> None:
    """Raise LogError, with one line of what is wrong, where a dialog or a move does not fit."""
    taken = {one.taken: one for one in log.assignments}
    for place in log.tickets:
        if place not in taken:
            raise LogError(f"it has a ticket of no assignment, taken at place {place}.")
    for number in log.moves:
        if not 0 < number <= len(log.dialogs):
            raise LogError(f"it has a move of an unknown dialog, {number}.")
    seeds = {seed.key: seed.stage for seed in log.seeds}
    now = 0
    for number, line in enumerate(log.dialogs, start=1):
        if line.dialog != number:
            raise LogError(f"the dialog {number} is missing, or not in its order.")
        now = _beginning(log, line, taken, now)
        both = (taken[line.student], taken[line.teacher])
        if {log.units[one.unit].stage for one in both} != {seeds.get(line.seed)}:
            raise LogError(f"the dialog {number} is about no seed of its stage.")
        _check_moves(line, log.moves.get(number, []))


def _beginning(log: Log, line: DialogLine, taken: dict[int, AssignmentLine], now: int) -> int:
    """Return after which place the dialog began at the earliest, those before having begun `now`.

    Raises LogError where that is too late.
    """
    places = {Role.STUDENT: line.student, Role.TEACHER: line.teacher}
    for role, place in places.items():
        if place not in taken or place not in log.tickets:
            raise LogError(f"the {role} of the dialog {line.dialog} took no assignment to talk.")
        if role not in log.tickets[place].roles:
            raise LogError(f"the {role} of the dialog {line.dialog} had not qualified to be one.")
    both = [taken[place] for place in places.values()]
    if both[0].worker == both[1].worker:
        raise LogError(f"one person held the dialog {line.dialog} with themselves.")
    began = max(now, *places.values())
    if any(one.handed_in is not None and one.handed_in < began for one in both):
        raise LogError(
            f"the dialog {line.dialog} is not in its order: one of both had handed in before the "
            "other came."
        )
    return began


def _check_moves(line: DialogLine, moves: list[MoveLine]) -> None:
    """Raise LogError where a move is not its maker's, or one of a dialog that goes on."""
    state = rules.Dialog()
    for place, move in enumerate(moves, start=1):
        called = f"the move {place} of the dialog {line.dialog}"
        if line.ending is None:
            raise LogError(f"{called} is told, but no end of it.")
        if move.role is not state.to_move:
            raise LogError(f"{called} is not in its order: it was the {state.to_move}'s turn.")
        turn = _after(state, move)
        if turn is None:
            raise LogError(f"{called} is none that a {move.role} makes.")
        state = rules.follow(state, turn)
    needs_one = line.ending is not None and line.ending not in ENDS_ITSELF
    if needs_one != (line.ended_by is not None) or (line.ending is None) != (line.ended is None):
        raise LogError(f"the dialog {line.dialog} does not tell how, by whom and when it ended.")


def _after(state: rules.Dialog, move: MoveLine) -> rules.Turn | None:
    """Return the turn that the move begins or completes; None where it is the other role's."""
    if move.role is Role.STUDENT:
        asked = move.answer is None and move.question is not None
        return rules.Turn(move.question or "") if asked else None
    answered = move.question is None and move.answer is not None
    return rules.Turn(state.turns[-1].question, move.answer) if answered else None
