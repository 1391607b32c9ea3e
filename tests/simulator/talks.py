"""The dialogs' pages of a run: which process each has its socket at, and what goes between them."""

import random
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson

from tests.simulator.machine import TIME
from tests.simulator.processes import Died

if TYPE_CHECKING:
    from tests.simulator.life import Life, Tab

# How time passes after something was said: commits, letters, signs of life.
STEPS = (0.0, 0.05, 0.1, 0.4)


class Page:
    """A page of a dialog; what it has sent it keeps until that is acknowledged."""

    def __init__(self, tab: "Tab", conversation: Any, rng: random.Random) -> None:
        self.tab, self.conversation, self.rng = tab, conversation, rng
        self.number, self.process = 0, ""
        # Typed and not sent yet.
        self.typed: deque[dict[str, Any]] = deque()
        self.shown: list[Mapping[str, Any]] = []

    @property
    def is_open(self) -> bool:
        """Return whether it has a socket."""
        return self.number > 0

    @property
    def place(self) -> tuple[int, int, bool]:
        """Return the dialog that it shows, and how far that has come."""
        dialog = self.conversation.state.get("dialog") or {"id": 0}
        turns = dialog.get("turns")
        return dialog["id"], len(turns or ()), bool(turns and turns[-1]["answer"])


class Talks:
    """All pages of dialogs, by the numbers of their sockets."""

    def __init__(self, life: "Life") -> None:
        self.life, self.n_opened, self.is_redis_away = life, 0, False
        self.pages: list[Page] = []
        self.at: dict[int, Page] = {}
        self.channels: dict[str, set[str]] = {}
        self.letters: deque[tuple[str, str, bytes]] = deque()
        # By process, what it is told once it is not at work any more.
        self.untold: dict[str, deque[tuple[str, tuple[Any, ...]]]] = defaultdict(deque)
        life.site.answers |= {"publish": self._publish, "subscribe": self._subscribe}

    # What processes say to each other.
    def _publish(self, process: str, channel: str, data: bytes) -> int | None:
        if self.is_redis_away:
            return None
        heard = [each for each, channels in self.channels.items() if channel in channels]
        self.letters += [(each, channel, data) for each in heard]
        return len(heard)

    def _subscribe(self, process: str, channel: str) -> bool:
        if not self.is_redis_away:
            self.channels.setdefault(process, set()).add(channel)
        return not self.is_redis_away

    def lose_redis(self) -> None:
        """Let nobody hear anybody from now on."""
        self.is_redis_away = True
        self.channels.clear()
        self.letters.clear()
        for process in sorted({page.process for page in self.at.values()}):
            self._tell(process, "lose_redis")

    # Pages.
    def page_of(self, tab: "Tab") -> Page:
        """Return the page of a tab, with what its worker is like."""
        for page in self.pages:
            if page.tab is tab:
                return page
        from collector.protocols.loading import get_protocol
        from tasks.simulation.behaviour import BEHAVIOURS
        from tasks.simulation.conversation import Conversation
        from tasks.simulation.simulated_contract import SIMULATED

        rng = random.Random(f"{self.life.seed}:{tab.lease}:talk")
        speak = get_protocol(self.life.protocol).part(SIMULATED).speak
        behaviour = rng.choice([BEHAVIOURS[name] for name in sorted(BEHAVIOURS)])
        conversation = Conversation(
            tab.state["token"], lambda state: speak(state, behaviour, rng), behaviour, rng
        )
        page = Page(tab, conversation, rng)
        conversation.listen = page.shown.append
        self.pages.append(page)
        return page

    def open(self, page: Page, process: str) -> None:
        """Open a page's socket at a process, as a page that is loaded or was cut off does."""
        self.n_opened += 1
        page.number, page.process = self.n_opened, process
        self.at[page.number] = page
        self._tell(process, "open_socket", page.number)
        greeting, *unanswered = page.conversation.greet()
        self.say(page, greeting)
        for message in unanswered:
            self.life.seen["a move sent again after a cut"] += message not in page.typed
            self.say(page, message)

    def cut(self, page: Page) -> None:
        """Lose a page's socket, or close it."""
        self.at.pop(page.number, None)
        number, page.number = page.number, 0
        self._tell(page.process, "cut_socket", number)

    def say(self, page: Page, message: Mapping[str, Any]) -> None:
        """Send a message, if the page has a socket."""
        if page.is_open:
            self._tell(page.process, "say", page.number, orjson.dumps(message).decode())

    def type(self, page: Page, how_many: int) -> int:
        """Send what the worker has typed, so many messages at most; returns how many."""
        sent = 0
        while page.typed and page.is_open and sent < how_many:
            self.say(page, page.typed.popleft())
            sent += 1
            if page.conversation.cut:
                self.cut(page)
        return sent

    def finish(self, page: Page) -> None:
        """Press the button of somebody who waits no longer, or ends the dialog, or reports."""
        dialog = page.conversation.state.get("dialog") or {}
        name = page.rng.choice(("finish", "end", "report", "ready"))
        more = {"reason": "rude", "note": "Why?"} if name == "report" else {}
        number = str(UUID(int=page.rng.getrandbits(128), version=4))
        given = {"dialog": dialog["id"]} if dialog and name != "finish" else {}
        self.say(page, {"type": name, "id": number, **given, **more})

    def settle(self) -> None:
        """Let a second pass in small steps, in which everything that is said is heard."""
        for step in STEPS if self.at or self.letters else ():
            TIME.advance(step)
            while self.letters:
                process, channel, data = self.letters.popleft()
                self._tell(process, "hear", channel, data)
            for process in sorted({page.process for page in self.at.values()} | {*self.channels}):
                self._tell(process, "settle")

    def _tell(self, process: str, command: str, *given: Any) -> None:
        untold = self.untold[process]
        untold.append((command, given))
        try:
            while untold and not self.life.site.processes[process].is_busy:
                next_command, now_given = untold.popleft()
                for number, event in self.life.ask(process, next_command, *now_given) or ():
                    self._hear(number, event)
        except Died:
            self.forget(process)

    def _hear(self, number: int, event: dict[str, Any]) -> None:
        from tasks.dialog.socket import GONE, UNKNOWN

        page = self.at.get(number)
        if page is None:
            return
        if event["type"] == "websocket.close":
            del self.at[number]
            page.number = 0
            # A page that is told so does not come back, unless its worker loads it again.
            if event["code"] in (UNKNOWN, GONE):
                page.tab.is_done |= page.rng.random() < 0.7
        elif event["type"] == "websocket.send":
            from tasks.simulation.browser import StuckError

            self.life.sent_to(page, event["text"])
            try:
                page.typed += page.conversation.hear(orjson.loads(event["text"]))
            except StuckError as stuck:
                self.life.seen[f"stuck: {str(stuck)[:40]}"] += 1
            self._compare(page)

    def _compare(self, page: Page) -> None:
        """Note what a page shows that its partner's, at another process, does not show yet."""
        dialog, *place = page.place
        for other in self.at.values():
            its_dialog, *its_place = other.place
            if dialog and dialog == its_dialog and other.process != page.process:
                self.life.seen["a dialog between two processes"] += 1
                if its_place < place:
                    self.life.seen["a move stored and not yet shown to the partner"] += 1

    def forget(self, process: str) -> None:
        """Close the sockets of a process that has died; its pages come back to others."""
        self.channels.pop(process, None)
        self.untold.pop(process, None)
        for number, page in list(self.at.items()):
            if page.process == process:
                del self.at[number]
                page.number = 0
