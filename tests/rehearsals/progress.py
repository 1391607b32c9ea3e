"""Watches whether every kind of work moves: pages, submissions, dialogs, HITs, decisions, pay."""

import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise

import httpx
import psycopg2

LOOK_SECONDS = 0.25
# A page that takes longer has not come.
PAGE_SECONDS = 10.0
PAGE = "pages"
ROWS = {
    "submissions": "SELECT count(*) FROM tasks_submission",
    "messages": "SELECT count(*) + count(answered_at) FROM tasks_turn",
    "pairs": "SELECT count(*) FROM tasks_dialog",
    "HITs": "SELECT count(*) FROM tasks_posting WHERE external_id <> ''",
    "decisions": """
        SELECT (SELECT count(*) FROM annotation_verdict)
             + (SELECT count(*) FROM tasks_submission WHERE state <> 'held')
             + (SELECT count(*) FROM tasks_grant WHERE told_state IN ('granted', 'declined'))
    """,
    "payments": "SELECT count(*) FROM tasks_payment WHERE state = 'confirmed'",
}
KINDS = (PAGE, *ROWS)
QUERY = "SELECT " + ", ".join(f"({query})" for query in ROWS.values())
# Any HIT that is up can be looked at before it is accepted.
LIVE_HIT = "SELECT external_id FROM tasks_posting WHERE state = 'live' ORDER BY id DESC LIMIT 1"


@dataclass
class Moves:
    """When each kind of work moved, in seconds of the monotonic clock, in order."""

    at: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def after(self, when: float) -> dict[str, float]:
        """Return how long after `when` each kind moved first; those that have not are left out."""
        first = {
            kind: next((at for at in moved if at > when), None) for kind, moved in self.at.items()
        }
        return {kind: at - when for kind, at in first.items() if at is not None}

    def longest_pauses(self, begin: float, end: float) -> dict[str, float]:
        """Return the longest time between two moves of each kind, from `begin` to `end`."""
        found = {}
        for kind, moved in self.at.items():
            marks = [begin, *(at for at in moved if begin < at < end), end]
            found[kind] = max(later - sooner for sooner, later in pairwise(marks))
        return found


class Watch:
    """Looks at the rows and the pages of a site all the time, in threads of its own."""

    def __init__(self, database: str, collector: str, market: str) -> None:
        """Begin to look; the addresses are of Collector's database and both sites."""
        self.moves = Moves()
        self.pages_seen: list[tuple[float, str]] = []
        self._database, self._collector, self._market = database, collector, market
        self._hit = ""
        self._over = threading.Event()
        self._threads = [threading.Thread(target=look) for look in (self._rows, self._pages)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Look no more."""
        self._over.set()
        for thread in self._threads:
            thread.join(timeout=60)

    def wait_for_all(self, since: float, seconds: float) -> dict[str, float]:
        """Return how long after `since` each kind moved, waiting for all at most so long."""
        while len(found := self.moves.after(since)) < len(KINDS):
            if time.monotonic() > since + seconds:
                break
            time.sleep(LOOK_SECONDS)
        return found

    def pages_between(self, begin: float, end: float) -> list[str]:
        """Return what became of the pages that were asked for in this time, each once."""
        return sorted({said for at, said in list(self.pages_seen) if begin < at < end})

    def _rows(self) -> None:
        last: tuple[int, ...] | None = None
        line = None
        while not self._over.wait(LOOK_SECONDS):
            try:
                line = line or psycopg2.connect(self._database, connect_timeout=2)
                line.autocommit = True
                with line.cursor() as cursor:
                    cursor.execute(QUERY)
                    (counts,) = cursor.fetchall()
                    if not self._hit:
                        cursor.execute(LIVE_HIT)
                        self._hit = next((hit for (hit,) in cursor.fetchall()), "")
            except psycopg2.Error:
                line = None
                continue
            now = time.monotonic()
            for kind, was, count in zip(ROWS, last or counts, counts, strict=True):
                if count > was:
                    self.moves.at[kind].append(now)
            last = counts

    def _pages(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            asked = time.monotonic()
            preview = f"/hit/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId={self._hit}"
            told = [_get(self._collector + preview), _get(self._market + "/hits/")]
            self.pages_seen.append((asked, f"{told[0]}, {told[1]}"))
            if told == ["200", "200"]:
                self.moves.at[PAGE].append(asked)


def _get(address: str) -> str:
    """Return the status of a page, or what went wrong."""
    try:
        return str(httpx.get(address, timeout=PAGE_SECONDS, follow_redirects=True).status_code)
    except httpx.HTTPError as error:
        return type(error).__name__
