"""One run's collection, its site's processes, and what everybody there has been told."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.test import Client

from tests.simulator import worlds
from tests.simulator.databases import Databases
from tests.simulator.forms import Form, Ways
from tests.simulator.machine import TIME
from tests.simulator.processes import Died, Reply, Site, Trouble, route_of, through
from tests.simulator.talks import Page, Talks

STATE = re.compile(r'id="page-state" type="application/json">(.*?)</script>')
CONSENT = re.compile(r'name="(token|version)" value="([^"]+)"')
WEBS = ("web 1", "web 2", "web 3")
JOBS = ("jobs 1", "jobs 2")
# What a browser shows when nothing comes back.
CUT = 599


class Tab:
    """A page of work that is open somewhere; it may be sent long after."""

    def __init__(self, visitor: Any, person: Any, state: Any, frame: Any, lease: Any) -> None:
        self.visitor, self.person, self.state, self.frame = visitor, person, state, frame
        self.lease, self.until = lease.pk, lease.session.signed_until
        self.cents = lease.session.posting.reward_cents
        self.version, self.turn, self.data = 0, 0, None
        self.is_done = self.was_given_back = False
        self.is_dialog = state.get("kind") == "dialog"


class Promises:
    """What pages and replies have said: by it the truths are judged, never by the rows alone."""

    def __init__(self) -> None:
        self.submitted: dict[int, int] = {}  # lease: cents that its page promised
        self.saved: dict[int, int] = {}  # lease: cents, where all of it was saved without problems
        self.maximum: int | None = None  # cents that the collection costs at most
        self.taken_away: set[tuple[str, str]] = set()  # qualification types, and whose they were
        self.faults: list[str] = []


class Life:
    """A collection on its marketplace, with everybody who comes; see acts.py and truths.py."""

    # Where a release can be made again; None where there are real processes.
    databases: Databases | None = None

    def __init__(
        self, protocol: str, seed: int, home: Path, also: dict[str, Any] | None = None
    ) -> None:
        from marketplace.models import Requester
        from marketplace.tests.visitor import Visitor

        self.seed, self.protocol, self.home = seed, protocol, home
        self.said, self.rng = Promises(), random.Random(0)
        self.reached: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()
        self.web, self.trouble, self.n_asked = WEBS[0], Trouble(), 0
        self.act, self.meanwhile, self.is_paused = "begin", lambda: None, False
        self.again: Callable[[], object] = lambda: None
        self.site = self.begin_site()
        self.collection = self.create(also)
        self.requester = Requester.objects.get(name="Rita")
        self.workers = [Visitor(name) for name in worlds.WORKERS]
        self.tabs: list[Tab] = []
        self.last: Tab | None = None
        self.sent: Counter[str] = Counter()
        self.kept_forms: list[Form] = []
        self.ways: dict[int, Ways] = {}  # by browser
        self.browsers = [self._signed_in(name) for name in worlds.REQUESTERS]
        self.host = self._at_the_desk(worlds.HOST_NAME)
        self.desk = self._at_the_desk(worlds.DESK_NAME)
        self.is_at_rest = False
        self.talks = Talks(self)

    def begin_site(self) -> Site:
        """Return the processes, which serve whatever browsers of this process ask for."""
        site = Site([*WEBS, *JOBS])
        site.answers |= {"wire": self._serve_wire, "pause": self._pause}
        site.answers["seen"] = lambda name: self.seen.update([name])
        site.answers["publish"] = site.answers["subscribe"] = lambda *_: None
        through(self.serve)
        return site

    def create(self, also: dict[str, Any] | None) -> Any:
        """Return the collection that this life is about."""
        return worlds.create(self.protocol, self.seed, also)

    def sent_to(self, page: Page, text: str) -> None:
        """Note what a dialog's page was sent."""
        self.seen["a message to a dialog's page"] += 1

    def _signed_in(self, name: str) -> Client:
        from collector.models import User

        browser = Client(HTTP_HOST="localhost")
        browser.force_login(User.objects.get(username=name))
        return browser

    def _at_the_desk(self, name: str) -> Client:
        from marketplace.tests.desk import desk_client

        browser = desk_client()
        page = browser.get("/desk/sign-in/", follow=True).content.decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        fields = {"name": name, "password": worlds.DESK_PASSWORD}
        browser.post("/desk/sign-in/", {**fields, "csrfmiddlewaretoken": token[1] if token else ""})
        return browser

    @property
    def stages(self) -> list[Any]:
        """Return the collection's stages as they are now."""
        return list(self.collection.stages.order_by("pk").select_related("collection"))

    # Processes.
    def ask(self, process: str, command: str, *given: Any, trouble: Trouble | None = None) -> Any:
        """Return what a process answers; raises Died."""
        self.n_asked += 1
        seed = f"{self.seed}:{self.act}:{self.n_asked}"
        one = self.site.processes[process]
        return one.ask(command, *given, seed=seed, trouble=trouble or Trouble())

    def serve(self, environ: dict[str, str], body: bytes, enforce_csrf: bool) -> Reply:
        """Have a request of a browser served; what befalls it is what was set for this act."""
        host = environ.get("HTTP_HOST", "localhost").partition(":")[0]
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        trouble = Trouble()
        # A page that is only read on the way to what matters is not worth it.
        if method != "GET" or path == "/hit/":
            trouble, self.trouble = self.trouble, trouble
        if trouble.pauses_at is not None:
            self.again = lambda: self.ask(self.idle(self.web), "page", environ, body, enforce_csrf)
        try:
            free = self.idle(self.web)
            reply = self.ask(free, "page", environ, body, enforce_csrf, trouble=trouble)
        except Died as died:
            self.talks.forget(str(died))
            self.seen["a page whose process died"] += 1
            return Reply(CUT, "Cut", [], Client().cookies, b"")
        if method != "GET":
            self.reached[route_of(path, host)] += reply.status < 400
        if reply.status >= 500 and reply.status != 503:
            self.said.faults.append(f"{reply.status} at {method} {route_of(path, host) or path}")
        return reply

    def idle(self, wanted: str) -> str:
        """Return a web process, or another one where that is at work."""
        free = [each for each in WEBS if not self.site.processes[each].is_busy]
        return wanted if wanted in free else free[0]

    def _serve_wire(self, environ: dict[str, str], body: bytes, enforce_csrf: bool) -> Reply:
        """Have a call of the requester API served, for a process that waits for it."""
        reply: Reply = self.ask(self.idle(self.web), "page", environ, body, enforce_csrf)
        self.reached[environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]] += 1
        return reply

    def _pause(self, name: str) -> None:
        """Let somebody else act while a process stands between two statements."""
        if not self.is_paused:
            self.is_paused = True
            self.seen[f"{name.split()[0]} interrupted"] += 1
            try:
                # Often the same is asked once more: a second press, the other process of the jobs.
                self.again() if self.rng.random() < 0.4 else self.meanwhile()
            finally:
                self.is_paused = False

    # What people do on pages.
    def accept(self, visitor: Any, path: str) -> Any:
        """Return the frame of the HIT that an *Accept* leads to, None where it was refused."""
        from marketplace.tests.visitor import Frame

        try:
            return Frame(visitor.send(f"{path}accept/"))
        except AssertionError:
            return None

    def press(self, visitor: Any, path: str) -> Any:
        """Return where a button of the marketplace leads; None for an account that is closed."""
        try:
            return visitor.send(path)
        except AssertionError:
            return None

    def enter(self, visitor: Any, path: str, trouble: Callable[[], None] = lambda: None) -> str:
        """Accept, and look at the work; where there is none, mostly give the HIT back.

        trouble: called before the look.
        """
        frame = self.accept(visitor, path)
        if frame is None:
            return f"{visitor.name}: not accepted"
        trouble()
        told = self.look(visitor, frame)
        if told.endswith("in vain") and self.rng.random() < 0.8:
            self.press(visitor, f"{frame.path}return/")
        return told

    def look(self, visitor: Any, frame: Any) -> str:
        """Agree or not, and look at the work of a HIT: a tab, where there is some."""
        from tasks.models import Lease
        from tests.page_workers import Person

        person = Person(visitor.worker.worker_id, self.collection)
        person.rng = self.rng
        parts = urlsplit(frame.url)
        page = person.browser.get(f"{parts.path}?{parts.query}")
        if "token" in (form := dict(CONSENT.findall(page.content.decode()))):
            agree = "agree" if self.rng.random() < 0.93 else "no"
            page = person.browser.post("/hit/consent", {**form, "consent": agree})
        found = STATE.search(page.content.decode())
        if not found:
            return f"{visitor.name}: in vain"
        state = json.loads(found[1])
        # Later leases of the same stay are other pages' work.
        stays = Lease.objects.filter(session__session_id=frame.query["assignmentId"])
        lease = stays.select_related("session__posting").latest("pk")
        self.tabs.append(Tab(visitor, person, state, frame, lease))
        return f"{visitor.name} {lease.unit.stage.name} lease {lease.pk}"

    def tab(self) -> Tab | None:
        """Draw a page that is open: often the last one, mostly one that is not handed in yet."""
        if self.last and self.rng.random() < 0.5:
            return self.last
        fresh = [tab for tab in self.tabs if not tab.is_done]
        tabs = fresh if fresh and self.rng.random() < 0.85 else self.tabs
        self.last = self.rng.choice(tabs[-8:]) if tabs else None
        return self.last

    def lease(self, tab: Tab) -> Any:
        """Return the lease that a page is of."""
        from tasks.models import Lease

        return Lease.objects.select_related("session__posting", "unit").get(pk=tab.lease)

    def type(self, tab: Tab) -> bool:
        """Have all of a page filled in, once; False where its answers cannot be given any more."""
        tab.person.rng = self.rng
        if tab.is_dialog:
            tab.data = {"dialog": True}
            return True
        try:
            tab.data = tab.data or tab.person._typed(tab.state, lambda state, data: None)
        except (AssertionError, ValueError, KeyError):
            return False
        return True

    def round(self, process: str, trouble: Trouble | None = None) -> str:
        """Let a process of the jobs look once at what is due."""
        # Time that passes is heard by those who sit at their pages too.
        self.talks.settle()
        other = next(each for each in JOBS if each != process)
        if trouble and not self.site.processes[other].is_busy:
            self.again = lambda: self.round(other)
        names = ["annotation.jobs.look_after_what_is_due", "tasks.jobs.look_after_dialogs"]
        try:
            self.ask(process, "jobs", names, trouble=trouble)
        except Died:
            self.seen["a round that died"] += 1
            return f"{process} died"
        return process

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        TIME.advance(seconds)
