"""Plans who could talk with whom among many who wait: whoever came first is matched first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class WaitingWorker:
    """Somebody who waits, and what they qualify for."""

    ticket: int
    worker: str
    can_ask: bool
    can_teach: bool

    @property
    def roles(self) -> tuple[bool, bool]:
        """Return whether they can ask and whether they can teach."""
        return self.can_ask, self.can_teach


# With whom somebody of these roles can talk.
PARTNERS = {
    (True, True): ((True, True), (True, False), (False, True)),
    (True, False): ((True, True), (False, True)),
    (False, True): ((True, True), (True, False)),
}


def match_pairs(
    queue: Iterable[WaitingWorker], avoided: Mapping[str, set[str]]
) -> list[tuple[WaitingWorker, WaitingWorker]]:
    """Return pairs of people who qualify for different roles, in the order in which they came.

    Nobody is in two pairs, with themselves, or with somebody whom they avoid. avoided: for every
    worker with whom they are not to talk again. Takes time in proportion to the queue.
    """
    # Dictionaries keep the order in which people came, and let go of anybody at once.
    free: dict[tuple[bool, bool], dict[int, WaitingWorker]] = {roles: {} for roles in PARTNERS}
    pairs = []
    for comer in queue:
        others = {comer.worker, *avoided.get(comer.worker, ())}
        first = min(
            (
                each
                for roles in PARTNERS[comer.roles]
                if (each := _first(free[roles].values(), others))
            ),
            key=lambda each: each.ticket,
            default=None,
        )
        if first is None:
            free[comer.roles][comer.ticket] = comer
        else:
            del free[first.roles][first.ticket]
            pairs.append((first, comer))
    return pairs


def _first(people: Iterable[WaitingWorker], avoided: set[str]) -> WaitingWorker | None:
    return next((each for each in people if each.worker not in avoided), None)
