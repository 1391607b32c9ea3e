"""At which processes the holders of tickets have pages open, as those processes say."""

Places = frozenset[str]
# More than are at work at once; whoever is dropped for others is looked for everywhere.
MOST = 20_000


class Whereabouts:
    """The processes of each ticket that have said so, and how many there are, as its row says.

    Where a row counts more than have spoken, nobody knows where they are.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Places]] = {}

    def note(self, ticket_id: int, process: str, is_here: bool, number: int) -> None:
        """Note that a process has the ticket's pages or not any more, as one of so many."""
        _, places = self._known.pop(ticket_id, (0, Places()))
        places = places | {process} if is_here else places - {process}
        if not places:
            return
        self._known[ticket_id] = number, places
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]

    def of(self, ticket_id: int) -> Places | None:
        """Return the processes, None where there may be others."""
        number, places = self._known.get(ticket_id, (1, Places()))
        return places if len(places) >= number else None

    def forget(self, ticket_id: int) -> None:
        """Know nothing more of the ticket: it is looked for everywhere."""
        self._known.pop(ticket_id, None)

    def forget_all(self) -> None:
        """Know nothing more of anybody."""
        self._known.clear()
