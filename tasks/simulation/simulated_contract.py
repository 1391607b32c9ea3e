"""The interface of a protocol's simulated.py: filling in pages, dialogs, replays of real work."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from collector.protocols.loading import Part
from collector.protocols.parameters import Parameters
from tasks.simulation.behaviour import Behaviour
from tasks.simulation.worker import Opener
from tasks.work.kinds.kind import Data, Item

# The state that a page gets, and the data that it sends, as JSON values.
State = Mapping[str, object]
Sent = dict[str, object]


class SimulatedPart(Protocol):
    """simulated.py of any protocol: pure; all randomness comes from `rng`."""

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


# A page's title with its paragraphs, each (heading, text, links), a link (start, end, title).
Paragraph = tuple[str, str, Sequence[Sequence[Any]]]


Page = tuple[str, Sequence[Paragraph]]


class RealWork(ABC):
    """The work in one official file; a protocol's subclass says what was done on which page."""

    # The stages that are published, the one that starts from seeds first.
    stages: ClassVar[tuple[str, ...]]

    @abstractmethod
    def overrides(self) -> dict[str, object]:
        """Return, by dotted key, the parameters of a collection that has exactly this work."""

    @abstractmethod
    def cost_cents(self, parameters: Parameters) -> int:
        """Return the largest budget that the work can need."""

    @abstractmethod
    def pages(self) -> Iterable[Page]:
        """Return the articles that the file quotes."""

    @abstractmethod
    def kinds_of(self, number: int) -> tuple[str, ...]:
        """Return the kinds of stage that worker `number`, from 0, may take; () for all kinds."""

    @abstractmethod
    def fill(
        self,
        page: Mapping[str, object],
        behaviour: Behaviour,
        rng: random.Random,
        open_article: Opener,
    ) -> tuple[dict[str, object], bool]:
        """Return what was done on this page, and whether all of it is real work."""

    def speak(self, state: Mapping[str, object]) -> dict[str, object]:
        """Return what was said next in this live dialog; for files of dialogs."""
        raise NotImplementedError(f"{type(self).__name__} holds no dialogs.")

    def finish(self) -> None:
        """Do what is possible only after all work is done; by default nothing."""
        return

    def seeds(self) -> Iterable[tuple[Sequence[str], dict[str, object]]] | None:
        """Return (titles, payload) of each seed of several articles; None: each text is one."""
        return None

    def sentences(self) -> Mapping[str, list[list[int]]]:
        """Return the sentences of first paragraphs by title; {} if a splitter is to find them."""
        return {}


class Replays(Protocol):
    """simulated.py of a protocol whose official files hold work that can be done again."""

    def replay(self, path: Path) -> RealWork:
        """Return the real work in an official file; raises ValueError for another file."""


class SimulatedModule(SimulatedPart, Speaks, Inspects, Replays, Protocol):
    """All functions of simulated.py that are called."""


SIMULATED = Part[SimulatedModule]("simulated", SimulatedModule, SimulatedPart)
