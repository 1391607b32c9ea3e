"""Real work, read from a file, that workers can do again exactly."""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from collector.protocols.parameters import Parameters
from tasks.simulation.behaviour import Behaviour
from tasks.simulation.work_page import Opener

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
