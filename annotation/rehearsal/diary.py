"""Records what simulated workers met: their pages, the refusals, and the effort of HITs."""

import html as markup
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.staticfiles import finders

from tasks.pages.work_page import CLOSING, OPENING, script
from tasks.simulation.browser import Data, Observer, Page, State, StuckError
from tasks.simulation.worker import AVAILABLE

MOST_PAGES = 60
MOST_STUCK = 20
OPENED, BLANK = "When it is opened", "Submitted with nothing done"
ADVISED, REFUSED = "With advice", "When it was refused"
SUBMITTED = "As it was handed in"
WAITING, FOUND, OVER = "In the waiting room", "A partner is found", "At its end"
AS_STUDENT, AS_TEACHER = "Live, as the student", "Live, as the teacher"
# In the order in which they happen.
MOMENTS = (
    *(OPENED, BLANK, ADVISED, REFUSED, SUBMITTED),
    *(WAITING, FOUND, AS_STUDENT, AS_TEACHER, OVER),
)
LIST, CONSENT = "The list of HITs", "Consent"
# Names of the fields that a person reads in an item, and of those that they type.
READ = frozenset({"text", "question", "background", "answers", "title", "words"})
WRITTEN = frozenset({"text", "short", "full", "reason", "value", "fields"})
# The text has a link's words already, and its target is not shown.
UNREAD = frozenset({"links"})
STYLE = re.compile(r'<link\b[^>]*rel="stylesheet"[^>]*href="([^"]+)"[^>]*>')
HIDDEN = re.compile(r"<script\b.*?</script>|<iframe\b.*?</iframe>", re.DOTALL)


@dataclass
class SeenPage:
    """A page as a worker saw it; `stage` is the stage's title for workers, blank outside HITs."""

    stage: str
    moment: str
    html: str
    note: str = ""
    is_work: bool = False


@dataclass
class Effort:
    """The effort of a stage's submitted HITs: words to read and characters to type.

    The words to read are those on the page and those of search results that were opened.
    """

    hits: int = 0
    words_read: int = 0
    characters_typed: int = 0


@dataclass
class Diary(Observer):
    """Keeps one page of each kind and state, and counts the rest.

    `told` counts (stage, is it a refusal?, sentence). `failed_searches` counts (stage, message).
    `notices` counts the headings of pages in the frame that are notices instead of work.
    """

    pages: dict[tuple[str, str], SeenPage] = field(default_factory=dict)
    told: Counter[tuple[str, bool, str]] = field(default_factory=Counter)
    failed_searches: Counter[tuple[str, str]] = field(default_factory=Counter)
    notices: Counter[str] = field(default_factory=Counter)
    n_returned: int = 0
    stuck_workers: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    efforts: dict[str, Effort] = field(default_factory=lambda: defaultdict(Effort))
    _turns: dict[tuple[str, str], int] = field(default_factory=dict)
    _tried: set[str] = field(default_factory=set)
    _lock: Any = field(default_factory=threading.Lock)

    def saw(self, page: Page) -> None:
        """Keep the first page of each kind: the list of HITs, consent, notice, work page."""
        with self._lock:
            if "page-state" in page.scripts:
                state = page.data("page-state")
                if state["mode"] == "work" and state["kind"] != "dialog":
                    self._keep_work(page, state, OPENED, {})
            elif page.kind == "consent":
                self._keep("", CONSENT, page)
            elif page.kind == "notice":
                self.notices[page.heading] += 1
                self._keep("", page.heading, page)
            elif urlsplit(page.url).path == AVAILABLE and page.has_button("Accept"):
                self._keep("", LIST, page)

    def waited(self, seconds: float) -> None:
        """Record how long the server took to answer."""
        with self._lock:
            self.seconds.append(seconds)

    def advised(
        self, page: Page, state: State, data: Data, hints: Sequence[Mapping[str, Any]]
    ) -> None:
        """Keep the first page with advice, and count its sentences."""
        with self._lock:
            self._count(state, hints, is_refusal=False)
            told = {"draft": _draft(state, data), "told": {"hints": hints}}
            self._keep_work(page, state, ADVISED, told, _sentences(hints))

    def refused(
        self, page: Page, state: State, data: Data, problems: Sequence[Mapping[str, Any]]
    ) -> None:
        """Keep the first page that was refused, and count the reasons."""
        with self._lock:
            told = {"draft": _draft(state, data), "told": {"problems": problems}}
            if data:
                self._count(state, problems, is_refusal=True)
            self._keep_work(page, state, REFUSED if data else BLANK, told, _sentences(problems))

    def could_not_search(self, state: State, message: str) -> None:
        """Count the message of a search that failed."""
        with self._lock:
            self.failed_searches[str(state["title"]), message] += 1

    def tries_blank(self, state: State) -> bool:
        """Return whether no worker has tried yet to submit this stage with nothing done."""
        with self._lock:
            is_first = state["title"] not in self._tried
            self._tried.add(str(state["title"]))
            return is_first

    def submitted(
        self, page: Page, state: State, data: Data, searched: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Keep the first page as it was handed in, and add up the effort."""
        with self._lock:
            effort = self.efforts[state["title"]]
            effort.hits += 1
            if state["kind"] == "dialog":
                return
            opened = searched.get("article", {}).values()
            effort.words_read += _words([*state["items"], *opened])
            effort.characters_typed += _characters(data)
            told = {"draft": _draft(state, data, opened), "trial": {"answers": searched}}
            self._keep_work(page, state, SUBMITTED, told)

    def heard(self, page: Page, state: State, dialog: State) -> None:
        """Keep one page of a live dialog for each role and phase: the one with the most turns."""
        talk = dialog.get("dialog") or {}
        turns = talk.get("turns") or []
        phases = {"waiting": WAITING, "checking": FOUND, "done": OVER}
        phases["talking"] = AS_TEACHER if talk.get("role") == "teacher" else AS_STUDENT
        moment = phases.get(str(dialog.get("phase")), "")
        key = (str(state["title"]), moment)
        with self._lock:
            if not moment or len(turns) <= self._turns.get(key, -1):
                return
            self._turns[key] = len(turns)
            self.pages.pop(key, None)
            self._keep_work(page, state, moment, {"talk": dialog})

    def returned(self, page: Page) -> None:
        """Count a returned HIT."""
        with self._lock:
            self.n_returned += 1

    def stuck(self, worker: str, error: StuckError) -> None:
        """Keep the message of a worker who could not go on."""
        with self._lock:
            if len(self.stuck_workers) < MOST_STUCK:
                self.stuck_workers.append(str(error))

    def _count(self, state: State, said: Sequence[Mapping[str, Any]], *, is_refusal: bool) -> None:
        for one in said:
            self.told[str(state["title"]), is_refusal, str(one["message"])] += 1

    def _keep(self, stage: str, moment: str, page: Page) -> None:
        if (stage, moment) not in self.pages and len(self.pages) < MOST_PAGES:
            self.pages[stage, moment] = SeenPage(stage, moment, still(page.html))

    def _keep_work(
        self, page: Page, state: State, moment: str, told: Mapping[str, Any], note: str = ""
    ) -> None:
        stage = str(state["title"])
        if (stage, moment) not in self.pages and len(self.pages) < MOST_PAGES:
            drawn = to_try(page.html, {**state, **told})
            self.pages[stage, moment] = SeenPage(stage, moment, drawn, note, is_work=True)


def to_try(html: str, state: Mapping[str, Any]) -> str:
    """Return a page of work for trying out: it has no token and no addresses, and sends nothing."""
    start = html.index(OPENING) + len(OPENING)
    end = html.index(CLOSING, start)
    told = script({**state, "mode": "trial", "token": "", "urls": {}}).decode()
    return html[:start] + told + html[end:]


def still(html: str) -> str:
    """Return a static copy of a page: with its styles inside, without scripts and frames."""
    return STYLE.sub(_style, HIDDEN.sub("", html))


def _style(link: re.Match[str]) -> str:
    path = urlsplit(markup.unescape(link[1])).path.removeprefix(settings.STATIC_URL)
    found = finders.find(path)
    return f"<style>{Path(str(found)).read_text('utf-8')}</style>" if found else ""


def _sentences(said: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(dict.fromkeys(str(one["message"]) for one in said))


def _draft(state: State, data: Data, opened: Iterable[Mapping[str, Any]] = ()) -> Mapping[str, Any]:
    """Return submitted data as the page stores a draft; opened: passages opened from a search."""
    shown = [each for item in state["items"] for each in item.get("paragraphs", ())]
    return {"data": _with_words(data, [*shown, *opened]), "ui": {}}


def _with_words(data: Any, passages: Sequence[Mapping[str, Any]]) -> Any:
    """Return submitted data with the passage's title and words added to each mark.

    The page shows them. The server does not need them, so simulated workers do not send them.
    """
    if isinstance(data, list):
        return [_with_words(each, passages) for each in data]
    if not isinstance(data, dict):
        return data
    if not {"document", "paragraph", "start", "end"} <= data.keys():
        return {name: _with_words(value, passages) for name, value in data.items()}
    place = (data["document"], data["paragraph"])
    for passage in passages:
        if place == (passage.get("document"), passage.get("paragraph")):
            words = passage["text"][data["start"] : data["end"]]
            return {**data, "title": passage["title"], "text": words}
    return data


def _words(shown: Any) -> int:
    """Return the number of words to read in what a page shows."""
    if isinstance(shown, dict):
        return sum(
            len(value.split()) if isinstance(value, str) else _words(value)
            for name, value in shown.items()
            if name in READ or (name not in UNREAD and isinstance(value, dict | list))
        )
    if isinstance(shown, list):
        return sum(len(each.split()) if isinstance(each, str) else _words(each) for each in shown)
    return 0


def _characters(sent: Any, *, is_text: bool = False) -> int:
    """Return the number of typed characters in submitted data."""
    if isinstance(sent, dict):
        return sum(
            _characters(value, is_text=is_text or name in WRITTEN) for name, value in sent.items()
        )
    if isinstance(sent, list):
        return sum(_characters(each, is_text=is_text) for each in sent)
    return len(sent) if is_text and isinstance(sent, str) else 0
