"""Whether the dialogs that a log tells of can have been: who held them, and whose move it was."""

from annotation.release.log import AssignmentLine, DialogLine, Log, LogError, MoveLine
from tasks.work import dialog_rules as rules
from tasks.work.dialog_rules import Role

# Nobody has ended these: their last answer has.
ENDS_ITSELF = (rules.Ending.ALL_ASKED, rules.Ending.UNANSWERABLE)


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
