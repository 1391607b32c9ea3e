"""What a protocol offers its simulated workers: behaviours, how they fill in pages, real work."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from collector.protocols.loading import Part
from collector.protocols.parameters import Parameters
from tasks.simulation.work_page import Opener
from tasks.work.kinds.kind import Data, Item

# What a page is told, and what it sends: JSON.
State = Mapping[str, object]
Sent = dict[str, object]


@dataclass(frozen=True)
class Behaviour:
    """Each number is the probability of what its name says, per question, answer or message.

    `careless_question`: leaves in what the page's hints advise against; `partial_evidence`: marks
    a part of what proves it; `wrong_answer`: answers something else than was found; `gives_up`:
    says that there is no answer without having looked; `nonsense`: writes and marks anything at
    all, as long as it can be handed in. In a live dialog: `silent`: does not move at all;
    `leaves`: goes away without a word; `sends_twice`: presses the button again; `cut_off`: loses
    the connection before the answer to a message has come.
    """

    name: str
    careless_question: float = 0.0
    partial_evidence: float = 0.0
    wrong_answer: float = 0.0
    gives_up: float = 0.0
    nonsense: float = 0.0
    silent: float = 0.0
    leaves: float = 0.0
    sends_twice: float = 0.0
    cut_off: float = 0.0


DILIGENT = Behaviour("diligent", partial_evidence=0.15, wrong_answer=0.04)
HASTY = Behaviour(
    "hasty", careless_question=0.25, partial_evidence=0.5, wrong_answer=0.2, gives_up=0.15
)
SPAMMER = Behaviour("spammer", nonsense=1.0)
SILENT = replace(DILIGENT, name="silent", silent=1.0)
LEAVER = replace(DILIGENT, name="leaver", leaves=0.2)
DOUBLE_CLICKER = replace(DILIGENT, name="double-clicker", sends_twice=1.0)
FLAKY = replace(DILIGENT, name="flaky", cut_off=0.3)
BEHAVIOURS = {
    behaviour.name: behaviour
    for behaviour in (DILIGENT, HASTY, SPAMMER, SILENT, LEAVER, DOUBLE_CLICKER, FLAKY)
}
MIXED = "mixed"
# One round of a mixed crowd; larger crowds repeat it.
MIXTURE = (
    *(DILIGENT, DOUBLE_CLICKER, HASTY, DILIGENT, FLAKY),
    *(SPAMMER, DILIGENT, DOUBLE_CLICKER, HASTY, FLAKY),
)


def behaviour_of(name: str, number: int) -> Behaviour:
    """Return the behaviour of worker `number`, counted from 0, in a crowd of kind `name`."""
    return MIXTURE[number % len(MIXTURE)] if name == MIXED else BEHAVIOURS[name]


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


# A page's title with its paragraphs, each (heading, text, links), a link (start, end, title).
Paragraph = tuple[str, str, Sequence[Sequence[Any]]]


Page = tuple[str, Sequence[Paragraph]]


class RealWork(ABC):
    """The work of one file; a protocol's own says what was done on which page."""

    # The stages that are published, the one that starts from seeds first.
    stages: ClassVar[tuple[str, ...]]

    @abstractmethod
    def overrides(self) -> dict[str, object]:
        """Return the parameters that let the collection hold exactly this work, by dotted key."""

    @abstractmethod
    def cost_cents(self, parameters: Parameters) -> int:
        """Return the budget that the work needs at most."""

    @abstractmethod
    def pages(self) -> Iterable[Page]:
        """Return the articles that the file quotes."""

    @abstractmethod
    def kinds_of(self, number: int) -> tuple[str, ...]:
        """Return the kinds of stage that worker `number`, from 0, may take; all for none."""

    @abstractmethod
    def fill(
        self,
        page: Mapping[str, object],
        behaviour: Behaviour,
        rng: random.Random,
        open_article: Opener,
    ) -> tuple[dict[str, object], bool]:
        """Return what was done on this page, and whether nothing had to be added to it."""

    def speak(self, state: Mapping[str, object]) -> dict[str, object]:
        """Return what was said next in this live dialog; for files of dialogs."""
        raise NotImplementedError(f"{type(self).__name__} holds no dialogs.")

    def finish(self) -> None:
        """Do what can be done only when all work is done; mostly nothing."""
        return

    def seeds(self) -> Iterable[tuple[Sequence[str], dict[str, object]]] | None:
        """Return (titles, payload) of each seed of several articles; None: each text is one."""
        return None

    def sentences(self) -> Mapping[str, list[list[int]]]:
        """Return the sentences of first paragraphs by title; none where they are to be found."""
        return {}


class Replays(Protocol):
    """simulated.py of a protocol whose official files hold work that can be done again."""

    def replay(self, path: Path) -> RealWork:
        """Return the real work in an official file; raises ValueError for another file."""


class SimulatedModule(SimulatedPart, Speaks, Inspects, Replays, Protocol):
    """All that is called of simulated.py."""


SIMULATED = Part[SimulatedModule]("simulated", SimulatedModule, SimulatedPart)
