"""What the dialogs of a stage will cost beside their rewards: waits and turns."""

from dataclasses import dataclass
from typing import Any

from collector.protocols.parameters import Parameters
from tasks.dialog.pay import longest_dialog_cents, longest_wait_cents, usual_dialog_cents
from tasks.money.commitments import Bound


@dataclass(frozen=True)
class Talks:
    """What is still to come, in cents with fees: at most, and as dialogs and waits usually are.

    `hits`: the HITs that are still to be put up for them.
    """

    hits: int
    most: int
    expected: int


def talks_to_come(wanted: int, bound: Bound, table: Any, parameters: Parameters) -> Talks:
    """Return what the dialogs that nobody has begun yet come to.

    wanted: how many dialogs the stage's sections are to have. Two people each: some have HITs that
    are up, and some of these wait with their wait held.
    """
    missing = max(0, wanted - bound.talks)
    wait = longest_wait_cents(table, parameters)
    here = max(0, bound.standing - 2 * bound.talking)
    waiting = max(0, bound.tickets - 2 * bound.talking)
    waits = max(0, 2 * missing - waiting)
    return Talks(
        hits=max(0, 2 * missing - here),
        most=waits * wait + missing * longest_dialog_cents(table, parameters),
        # Nobody knows before how many wait at a time: half the longest wait.
        expected=missing * (wait + usual_dialog_cents(table, parameters)),
    )
