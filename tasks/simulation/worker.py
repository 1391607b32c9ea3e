"""One simulated worker: signs in, takes a HIT, works in its frame, hands in, takes the next."""

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tasks.simulation.browser import Browser, Form, Page, StuckError
from tasks.simulation.conversation import WAITING, Conversation, converse_on

# (item id, title) -> a linked article as the page gets it, None if it is not there.
Opener = Callable[[str, str], Mapping[str, Any] | None]
# (state of the page, opener of linked articles) -> what the worker types.
Script = Callable[[Mapping[str, Any], Opener], dict[str, Any]]
# HIT types, the most wanted first; with HITs to choose from where not all of a type will do.
Offers = Mapping[str, Sequence[str]]
AVAILABLE = "/hits/"
# More pages than this without work or an end are a circle.
MOST_PAGES = 6
MOST_REFUSALS = 3
# Others may be quicker to accept a HIT; after this many the list is looked at again.
MOST_TRIES = 4
# Who was told that nothing is there for them leaves that kind of HIT alone for a while.
SHORTEST_RELUCTANCE_SECONDS = 3.0
LONGEST_RELUCTANCE_SECONDS = {"returned": 6.0, "waited": 60.0}
# What the page of a dialog hands in when it is over: all that was said is stored already.
TALKED = {"dialog": True}


@dataclass
class WorkPage:
    """What the page in the frame does while somebody works on it."""

    browser: Browser
    page: Page
    state: Mapping[str, Any]
    counts: Counter[str]
    _version: int = -1
    _found: set[str] = field(default_factory=set)
    _answers: dict[str, dict[str, Mapping[str, Any]]] = field(
        default_factory=lambda: {"search": {}, "article": {}}
    )

    def read_instructions(self) -> None:
        """Close the instructions, which open by themselves once per version."""
        instructions = self.state["instructions"]
        if not instructions["seen"]:
            self._post("instructions_seen", {"version": instructions["version"]})

    def open_article(self, item: str, title: str) -> Mapping[str, Any] | None:
        """Return a linked article as the page gets it, None if it is not there.

        On a page with a search box it is the passage of this name that a search has brought;
        anything else is searched for.
        """
        if "results_per_search" in self.state["limits"] and title not in self._found:
            return self._search(item, title)
        status, found = self._post("article", {"item": item, "title": title})
        self.counts["articles opened"] += 1
        if status != 200:
            return None
        if title in self._found:
            self._answers["article"][title] = found
        return found

    def _search(self, item: str, query: str) -> Mapping[str, Any] | None:
        status, found = self._post("search", {"item": item, "query": query})
        self.counts["searches"] += 1
        if status != 200:
            message = str(found.get("message", status))
            self.browser.observer.could_not_search(self.state, message)
            return None
        self._answers["search"][query] = found
        self._found |= {f"{hit['document']}#{hit['paragraph']}" for hit in found["results"]}
        return found

    def goes_on(self, data: Mapping[str, Any]) -> bool:
        """Give the next answer of a page that shows its questions one after another.

        Returns whether that brought a further question; the page's state has it then. Raises
        StuckError for an answer that the page refuses.
        """
        ordered_answers = self.state.get("ordered_answers", [])
        if not ordered_answers or ordered_answers[-1]["own"] is not None:
            return False
        item = ordered_answers[-1]["item"]
        given = next(dict(answer) for answer in data["answers"] if answer["item"] == item)
        body = {"item": given.pop("item"), "answer": given}
        status, found = self._post("answer", body)
        if status != 200:
            raise StuckError(f"An answer was not taken: {found.get('problems', status)}")
        self.counts["answers given in order"] += 1
        self.state = {**self.state, "ordered_answers": found["ordered_answers"]}
        return True

    def save(self, data: dict[str, Any]) -> None:
        """Save drafts as the page does while one writes: the first half, then all."""
        for share in (2, 1):
            part = {
                name: entries[: len(entries) // share] if isinstance(entries, list) else entries
                for name, entries in data.items()
            }
            version = self.state["draft_version"] if self._version < 0 else self._version
            draft = {"data": part, "ui": {}}
            status, found = self._post("draft", {"version": version, "draft": draft})
            if status != 200:
                raise StuckError(f"A draft was not saved: {found.get('message', status)}")
            self._version = found["version"]
            self.counts["drafts saved"] += 1
        if found["hints"]:
            self.browser.observer.advised(self.page, self.state, data, found["hints"])

    def submit(self, data: dict[str, Any]) -> tuple[Form | None, list[str]]:
        """Return the form that hands the work over, else None and what is to mend."""
        status, found = self._post("submit", {"data": data})
        if status == 422:
            self.browser.observer.refused(self.page, self.state, data, found["problems"])
            return None, [problem["message"] for problem in found["problems"]]
        if status != 200:
            raise StuckError(f"The work was not taken in: {found.get('message', status)}")
        self.browser.observer.submitted(self.page, self.state, data, self._answers)
        return Form(found["form"]["action"], "post", dict(found["form"]["fields"])), []

    def _post(self, name: str, body: Any) -> tuple[int, dict[str, Any]]:
        return self.browser.post(self.page, self.state["urls"][name], self.state["token"], body)


@dataclass
class SimulatedWorker:
    """A browser, a script to type by, and what became of it; `name` is unique on the site.

    `introduce` is told the person's id on the marketplace and the HIT's before they enter a
    frame, and returns whether the HIT is one to work on; `kinds` are the kinds of stages they
    work on, all when empty.
    """

    name: str
    browser: Browser
    script: Script
    introduce: Callable[[str, str], bool] = lambda person, hit: True
    kinds: frozenset[str] = frozenset()
    # How a page's state becomes a side of a live dialog; who has none returns such HITs.
    talk: Callable[[Mapping[str, Any]], Conversation] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    # The id of the HIT in hand, or of the last one.
    doing: str = ""
    # The types of HIT ever submitted.
    done: set[str] = field(default_factory=set)
    _type: str = ""
    _next: Page | None = None
    _talk: Conversation | None = None
    # Until when a type is left alone, and for how long it was.
    _reluctance: dict[str, tuple[float, float]] = field(default_factory=dict)

    def sign_in(self) -> None:
        """Sign in by name; raises StuckError where nobody can."""
        door = self.browser.open("/")
        if door.has_button("Sign out"):
            return
        if not door.has_button("Work as a worker"):
            raise StuckError(
                f"The marketplace at {self.browser.home} lets nobody in by a name alone: "
                "simulate on one that does, such as the embedded one."
            )
        page = self.browser.press(
            door.form("Work as"), "Work as a worker", name=self.name, simulated="yes"
        )
        if not page.has_button("Sign out"):
            raise StuckError(f"{self.name} could not sign in. {page}.")

    def turn(self, offers: Offers, now: float) -> str:
        """Take one HIT of the `offers` and do it; returns what became of it.

        "submitted", "returned", "nothing" when there was none, or "waited" for a partner in vain.
        now: seconds of a clock that never goes back.
        """
        willing = {
            one: hits
            for one, hits in offers.items()
            if self._reluctance.get(one, (now, 0.0))[0] <= now
        }
        page = self._take(willing)
        if page is None:
            return "nothing"
        outcome = self._do(page)
        if outcome == "submitted":
            self.done.add(self._type)
            self._reluctance.pop(self._type, None)
        else:
            last = self._reluctance.get(self._type, (now, SHORTEST_RELUCTANCE_SECONDS / 2))[1]
            pause = min(2 * last, LONGEST_RELUCTANCE_SECONDS[outcome])
            self._reluctance[self._type] = (now + pause, pause)
        return outcome

    def _take(self, offers: Offers) -> Page | None:
        """Return the page of a HIT in progress, else of one just accepted, else None."""
        page, self._next = self._next, None
        any_of = [one for one, hits in offers.items() if not hits]
        goes_on = page is not None and self._type in any_of
        if page is not None and goes_on and page.has_button("Accept the next HIT"):
            page = self.browser.press(page.form("Accept the next HIT"), "Accept the next HIT")
        else:
            page = self.browser.open(AVAILABLE)
        for _ in range(MOST_PAGES):
            if page.frames:
                return page
            held = [address for address, _ in page.links if _is_work(address)]
            if held:
                page = self.browser.open(held[0])
                continue
            form = _acceptable(page, any_of)
            if form is None:
                return self._take_named(offers)
            self._type = _type_of(form)
            page = self.browser.press(form, "Accept")
        if urlsplit(page.url).path == AVAILABLE:
            # Others were quicker each time: the list is looked at again later.
            return None
        raise StuckError(f"{self.name} got stuck taking a HIT. {page}.")

    def _take_named(self, offers: Offers) -> Page | None:
        """Return the page of one of the HITs that are offered by name, from its own preview."""
        for type_id, hits in offers.items():
            # Not everybody tries the same one first.
            first = zlib.crc32(self.name.encode()) % max(1, len(hits))
            for hit in [*hits[first:], *hits[:first]][:MOST_TRIES]:
                self._type = type_id
                page = self.accept(hit)
                if page is not None:
                    return page
        return None

    def accept(self, hit: str) -> Page | None:
        """Return the page of the HIT of this id, accepted from its preview; None if it is gone."""
        page = self.browser.open(f"{AVAILABLE}{hit}/")
        if not page.has_button("Accept and work"):
            return None
        page = self.browser.press(page.form("Accept and work"), "Accept and work")
        return page if page.frames else None

    def _do(self, page: Page) -> str:
        """Work in the frame of an accepted HIT until it is submitted or returned."""
        inner = self.enter(page)
        if inner is None:
            return self.give_back(page)
        if "page-state" in inner.scripts:
            work_page = self.work_page(inner)
            if work_page.state["kind"] == "dialog":
                return self._converse(page, work_page)
            return self._work(page, work_page)
        if inner.forms:
            form = inner.forms[0]
            label = form.buttons[0].label if form.buttons else ""
            return self.hand_over(page, inner, form, form.filled(label, {}))
        return self.give_back(page)

    def enter(self, page: Page) -> Page | None:
        """Return what the frame of an accepted HIT shows after consent: work, or a notice.

        None for a HIT that is not one to work on; raises StuckError for anything else.
        """
        address = page.frames[0]["src"]
        claims = parse_qs(urlsplit(address).query)
        self.doing = claims.get("hitId", [""])[0]
        if not self.introduce(claims.get("workerId", [""])[0], self.doing):
            return None
        inner = self.browser.open_frame(address)
        for _ in range(MOST_PAGES):
            if inner.status < 400 and ("page-state" in inner.scripts or inner.kind == "notice"):
                return inner
            if inner.status >= 400 or inner.kind != "consent":
                break
            self.counts["consents"] += 1
            inner = self.browser.press_in_frame(inner, inner.form("I agree"), "I agree")
        raise StuckError(f"{self.name} got stuck. {inner}.")

    def work_page(self, inner: Page) -> WorkPage:
        """Return the page of work in a frame, its instructions read; raises StuckError."""
        state = inner.data("page-state")
        if state["mode"] != "work":
            raise StuckError(f"{self.name} accepted a HIT and was shown a {state['mode']}.")
        work_page = WorkPage(self.browser, inner, state, self.counts)
        work_page.read_instructions()
        return work_page

    @property
    def is_waiting(self) -> bool:
        """Return whether the worker sits in a waiting room, with nothing to do."""
        return self._talk is not None and self._talk.phase == WAITING

    def _converse(self, page: Page, work_page: WorkPage) -> str:
        """Talk with the partner, then hand in; a worker who leaves the partner returns the HIT."""
        if self.talk is None:
            return self.give_back(page)
        self._talk = talk = self.talk(work_page.state)
        talk.listen = partial(self.browser.observer.heard, work_page.page, work_page.state)
        try:
            converse_on(work_page.page, work_page.state["urls"]["socket"], talk)
        finally:
            self.counts += talk.counts
            self._talk = None
        if talk.gone:
            return self.give_back(page)
        form, problems = work_page.submit(TALKED)
        if form is None:
            raise StuckError(f"{self.name} could not hand in a dialog: {problems[0]}")
        outcome = self.hand_over(page, work_page.page, form, form.fields)
        return outcome if talk.has_talked else "waited"

    def _work(self, page: Page, work_page: WorkPage) -> str:
        problems = [""]
        if self.browser.observer.tries_blank(work_page.state):
            form, _ = work_page.submit({})
            if form is not None:
                return self.hand_over(page, work_page.page, form, form.fields)
        for _ in range(MOST_REFUSALS):
            data = self.script(work_page.state, work_page.open_article)
            while work_page.goes_on(data):
                data = self.script(work_page.state, work_page.open_article)
            work_page.save(data)
            form, problems = work_page.submit(data)
            if form is not None:
                return self.hand_over(page, work_page.page, form, form.fields)
            self.counts["refusals"] += 1
        raise StuckError(
            f"{self.name} could not hand in “{work_page.state['title']}”: {problems[0]}"
        )

    def hand_over(self, page: Page, inner: Page, form: Form, content: dict[str, str]) -> str:
        """Send the receipt to the marketplace and go where its page goes then."""
        receipt = self.browser.send_from_frame(inner, form, content)
        if receipt.status != 200:
            raise StuckError(f"{self.name} handed in and was refused. {receipt}.")
        done = self.browser.open(page.frames[0].get("data-submitted") or AVAILABLE)
        if done.status != 200 or done.frames:
            raise StuckError(f"{self.name} handed in and was asked to work again. {done}.")
        self._next = done
        return "submitted"

    def give_back(self, page: Page) -> str:
        """Return the accepted HIT on the marketplace."""
        self.counts["returned"] += 1
        self.browser.observer.returned(page)
        after = self.browser.press(page.form("Return the HIT"), "Return the HIT")
        if after.frames:
            raise StuckError(f"{self.name} could not return a HIT. {after}.")
        return "returned"


def _acceptable(page: Page, types: Sequence[str]) -> Form | None:
    """Return the form of the list that accepts a HIT of the first type that it has."""
    forms = {_type_of(form): form for form in page.forms}
    return next((forms[one] for one in types if one in forms), None)


def _type_of(form: Form) -> str:
    """Return the type of HIT that a form accepts; empty for other forms."""
    parts = urlsplit(form.action).path.strip("/").split("/")
    is_acceptance = len(parts) == 3 and parts[0] == "kinds" and parts[2] == "accept"
    return parts[1] if is_acceptance else ""


def _is_work(address: str) -> bool:
    parts = urlsplit(address).path.strip("/").split("/")
    return len(parts) == 2 and parts[0] == "work" and parts[1].isdigit()
