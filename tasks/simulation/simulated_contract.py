"""What a protocol's simulated.py offers: what plausible workers do, and real work done again."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from collector.protocols.part_contract import Part
from tasks.simulation.behaviour import Behaviour
from tasks.simulation.replay import RealWork
from tasks.simulation.work_page import Opener
from tasks.work.kinds.kind import Data, Item

# What a page is told, and what it sends: JSON.
State = Mapping[str, object]
Sent = dict[str, object]


class SimulatedPart(Protocol):
    """simulated.py: pure; all chance comes from `rng`."""

    def fill(
        self, page: State, behaviour: Behaviour, rng: random.Random, open_article: Opener
    ) -> Sent:
        """Return the data that a worker with this behaviour would send from the page."""


class Speaks(Protocol):
    """simulated.py of a protocol with live dialogs."""

    def speak(self, state: State, behaviour: Behaviour, rng: random.Random) -> Sent:
        """Return the next message of a live dialog in this state."""


class Inspects(Protocol):
    """simulated.py of a protocol with qualifications."""

    def inspect(
        self, kind: str, data: Data, items: Sequence[Item], open_article: Opener
    ) -> tuple[bool, str]:
        """Return whether work on a qualification is accepted, and a note for its worker."""


class Replays(Protocol):
    """simulated.py of a protocol whose official files hold work that can be done again."""

    def replay(self, path: Path) -> RealWork:
        """Return the real work in an official file; raises ValueError for another file."""


class SimulatedModule(SimulatedPart, Speaks, Inspects, Replays, Protocol):
    """All that is called of simulated.py."""


SIMULATED = Part[SimulatedModule]("simulated", SimulatedModule, SimulatedPart)
