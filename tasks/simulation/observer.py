"""What can be told of simulated workers while they work: pages, refusals, hints, times."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.simulation.page_parser import Page, StuckError

State = Mapping[str, Any]
Data = Mapping[str, Any]


class Observer:
    """Is told what a crowd's workers meet; this one keeps nothing. Called from several threads.

    page: the page of work that something is told of. state: what that page was told.
    """

    def saw(self, page: Page) -> None:
        """A page was shown, on the marketplace's site or in its frame."""

    def waited(self, seconds: float) -> None:
        """A request was answered after so long."""

    def advised(
        self, page: Page, state: State, data: Data, hints: Sequence[Mapping[str, Any]]
    ) -> None:
        """What was written so far got hints, which do not keep it from being handed in."""

    def refused(
        self, page: Page, state: State, data: Data, problems: Sequence[Mapping[str, Any]]
    ) -> None:
        """Work was not taken in, and has to be mended."""

    def could_not_search(self, state: State, message: str) -> None:
        """A search of the page brought no answer but this message."""

    def tries_blank(self, state: State) -> bool:
        """Return whether a worker first submits the page with nothing done, to see what it says."""
        return False

    def submitted(
        self, page: Page, state: State, data: Data, searched: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Work was taken in; searched: what a search box found, by query as "search",
        and which of it was opened, by name as "article".
        """

    def heard(self, page: Page, state: State, dialog: State) -> None:
        """The page of a live dialog was told where the dialog stands."""

    def returned(self, page: Page) -> None:
        """A worker gave the HIT back whose page this was."""

    def stuck(self, worker: str, error: StuckError) -> None:
        """A worker could not go on, and has left for good."""


NOBODY = Observer()
