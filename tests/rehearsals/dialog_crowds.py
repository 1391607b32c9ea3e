"""Crowds at the sockets of live dialogs, hundreds to a process; runs in processes of its own."""

import asyncio
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin

from tasks.simulation.behaviour import Behaviour, behaviour_of
from tasks.simulation.conversation import CHECKING, TALKING, WAITING, Conversation
from tests import process_groups
from tests.serving import ROOT, Instance

# Codes from here on are the server's own refusals.
REFUSING = 4000
PAUSE_SECONDS = 0.3
# Set when everybody is to close the page.
OVER = threading.Event()
# So many messages to a teacher show that the search for the section finds it.
FIRST = 8


@dataclass(frozen=True)
class Plan:
    """How a crowd comes and talks; times are seconds since the epoch.

    rate: arrivals a second from `begin` on, all at once for 0. every_seconds: between a partner's
    message and one's own, on average. until: when everybody closes the page, whatever is going on.
    questions: after so many the student ends the dialog. keep: return every byte a student
    received, and what a teacher received first. cut_seconds: how often every other one's line is
    cut, never for 0. at_once: so many are there at a time, and who is done makes room for the next;
    all of them for 0.
    """

    address: str
    origin: str
    begin: float = 0.0
    rate: float = 0.0
    every_seconds: float = 0.0
    until: float = 0.0
    questions: int = 1000
    behaviour: str = "diligent"
    seed: int = 0
    keep: bool = False
    protocol: str = ""
    cut_seconds: float = 0.0
    at_once: int = 0


@dataclass
class Attendance:
    """What one worker's page saw, as it goes back to the test.

    `sent`, `heard`: the time of each message of a dialog by "dialog:turn:q" or ":a".
    """

    arrived: float = 0.0
    role: str = ""
    told: dict[str, float] = field(default_factory=dict)
    sent: dict[str, float] = field(default_factory=dict)
    heard: dict[str, float] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    phase: str = ""
    error: str = ""
    cuts: int = 0
    received: list[str] = field(default_factory=list)


class Crowd:
    """People in processes of their own, who come as the plan says."""

    def __init__(
        self, instance: Instance, tokens: list[str], plan: Plan, n_processes: int = 1
    ) -> None:
        self.processes = []
        for number in range(n_processes):
            # Each process has every n-th of those who arrive.
            begin = plan.begin + (number / plan.rate if plan.rate else 0)
            own = replace(
                plan,
                begin=begin,
                rate=plan.rate / n_processes,
                seed=plan.seed + number,
                at_once=plan.at_once // n_processes,
            )
            process = process_groups.begin(
                [sys.executable, "-m", "tests.rehearsals.dialog_crowds"],
                env=instance.environment,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdin
            process.stdin.write(json.dumps([tokens[number::n_processes], vars(own)]))
            process.stdin.close()
            self.processes.append(process)

    def close_pages(self) -> None:
        """Let everybody close the page at once, whatever their plan says."""
        for process in self.processes:
            process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """End whatever still runs."""
        for process in self.processes:
            process_groups.end(process)

    def seen(self) -> list[dict[str, Any]]:
        """Return what everybody's page saw, once all have gone."""
        found = []
        for process in self.processes:
            assert process.stdout
            output = process.stdout.read()
            ended = process.wait(timeout=60)
            assert ended == 0, f"{ended}: {output[-2000:]}"
            found += json.loads(output.splitlines()[-1])
        return found


def attend(tokens: list[str], plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each of these people's pages saw; they come in this order."""
    return asyncio.run(_all(tokens, Plan(**plan)))


async def _all(tokens: list[str], plan: Plan) -> list[dict[str, Any]]:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, OVER.set)
    coming, seen = enumerate(tokens), []

    async def have_room() -> None:
        for number, token in coming:
            if OVER.is_set():
                return
            person = Person(token, number, plan)
            seen.append(person.seen)
            await person.attend()

    await asyncio.gather(*(have_room() for _ in range(plan.at_once or len(tokens))))
    return [vars(each) for each in seen]


class Person:
    """One worker's page: connects when it is time, talks, and comes back when it is cut off."""

    def __init__(self, token: str, number: int, plan: Plan) -> None:
        self.plan, self.number = plan, number
        self.seen = Attendance()
        # Nobody's line is cut at the same time as all others'.
        self.is_cut_off = bool(plan.cut_seconds) and number % 2 == 1
        self.was_cut_off = False
        self.cut_at = plan.begin + random.Random(number).random() * plan.cut_seconds
        self.pace = random.Random(f"{plan.seed}:{number}:pace")
        rng = random.Random(f"{plan.seed}:{number}")
        behaviour = behaviour_of(plan.behaviour, number)
        self.talk = Conversation(
            token, lambda dialog: speak(dialog, plan, behaviour, rng), behaviour, rng
        )

    async def attend(self) -> None:
        """Talk until it is over or time is up; what went wrong is noted, not raised."""
        at = self.plan.begin + (self.number / self.plan.rate if self.plan.rate else 0)
        await asyncio.sleep(max(0, at - time.time()))
        self.seen.arrived = time.time()
        while not self.talk.is_over and not self._is_late():
            try:
                async with connect(
                    self.plan.address,
                    origin=Origin(self.plan.origin),
                    proxy=None,
                    open_timeout=20,
                ) as line:
                    await self._serve(line)
            except ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code >= REFUSING:
                    self.seen.error = f"{closed.rcvd.code} {self.seen.error}"
                    break
            except (OSError, InvalidHandshake, TimeoutError):
                pass
            if not (self.talk.cut or self.was_cut_off):
                await asyncio.sleep(PAUSE_SECONDS)
        self.seen.phase = self.talk.phase
        self.seen.taken = [move["id"] for move in self.talk.taken if move["type"] != "ready"]

    def _is_late(self) -> bool:
        return OVER.is_set() or (bool(self.plan.until) and time.time() > self.plan.until)

    async def _serve(self, line: ClientConnection) -> None:
        self.was_cut_off = False
        await self._say(line, self.talk.greet())
        while not self.talk.is_over and not self._is_late():
            try:
                heard = await asyncio.wait_for(line.recv(), 0.5)
            except TimeoutError:
                if self._loses_line():
                    # As a network does it, without a word.
                    line.transport.abort()
                    return
                continue
            message = orjson.loads(heard)
            replies = self.talk.hear(message)
            self._note(message, heard)
            await asyncio.sleep(self.talk.pause_seconds)
            if self.talk.phase == TALKING and replies:
                await asyncio.sleep(thought(self.plan.every_seconds, self.pace))
            await self._say(line, replies)
            if self.talk.cut:
                return

    def _loses_line(self) -> bool:
        if not self.is_cut_off or self.talk.phase != TALKING or time.time() < self.cut_at:
            return False
        self.cut_at = time.time() + self.plan.cut_seconds
        self.seen.cuts += 1
        self.was_cut_off = True
        return True

    async def _say(self, line: ClientConnection, messages: list[dict[str, Any]]) -> None:
        dialog = self.talk.state.get("dialog") or {}
        for message in messages:
            if message.get("type") in ("ask", "answer") and self.talk.phase == TALKING:
                asks = message["type"] == "ask"
                number = len(dialog["turns"]) - (not asks)
                self.seen.sent.setdefault(_key(dialog, number, asks), time.time())
            await line.send(orjson.dumps(message).decode())

    def _note(self, message: Mapping[str, Any], heard: str | bytes) -> None:
        now = time.time()
        if self.plan.keep and (self.seen.role != "teacher" or len(self.seen.received) < FIRST):
            self.seen.received.append(heard if isinstance(heard, str) else heard.decode())
        if message.get("type") == "refused" and "id" not in message:
            self.seen.error = str(message.get("message"))
        state, dialog = self.talk.state, self.talk.state.get("dialog")
        if not ("state" in message or message.get("change")):
            return
        if not dialog or state["phase"] == WAITING:
            return
        self.seen.told.setdefault(str(dialog["id"]), now)
        self.seen.role = dialog["role"]
        if state["phase"] != CHECKING and dialog["turns"]:
            last = dialog["turns"][-1]
            key = _key(dialog, len(dialog["turns"]) - 1, not last["answer"])
            self.seen.heard.setdefault(key, now)


def speak(
    dialog: Mapping[str, Any], plan: Plan, behaviour: Behaviour, rng: random.Random
) -> dict[str, Any]:
    """Return a move: a numbered question, or some words of the section."""
    if plan.protocol:
        from collector.protocols.loading import get_protocol
        from tasks.simulation.simulated_contract import SIMULATED

        said: dict[str, Any] = (
            get_protocol(plan.protocol).part(SIMULATED).speak(dialog, behaviour, rng)
        )
        return said
    turns = dialog["turns"]
    if dialog["role"] == "student":
        if len(turns) >= plan.questions:
            return {"type": "end"}
        return {"type": "ask", "text": f"What is said in place number {len(turns) + 1}?"}
    first = rng.randrange(len(dialog["tokens"]))
    last = min(len(dialog["tokens"]) - 1, first + rng.randrange(10))
    return {
        "type": "answer",
        "start": dialog["tokens"][first][0],
        "end": dialog["tokens"][last][1],
        "continuation": rng.choice(("follow_up", "maybe", "dont")),
        "affirmation": "neither",
    }


def thought(seconds: float, rng: random.Random) -> float:
    """Return how long somebody thinks who does so for `seconds` on average.

    Were it the same each time, those who came at once would speak at once for ever.
    """
    return seconds * rng.uniform(0.5, 1.5)


def _key(dialog: Mapping[str, Any], number: int, asks: bool) -> str:
    return f"{dialog['id']}:{number}:{'q' if asks else 'a'}"


def relayed(
    attendances: list[dict[str, Any]], start: float = 0.0, end: float = float("inf")
) -> list[float]:
    """Return the seconds from sending to the partner's page, of every message that arrived.

    Those sent from `start` to `end` count, seconds since the epoch.
    """
    sent: dict[str, float] = {}
    for one in attendances:
        sent |= one["sent"]
    return [
        at - sent[key]
        for one in attendances
        for key, at in one["heard"].items()
        if key in sent and key not in one["sent"] and start <= sent[key] < end
    ]


def pairing_times(attendances: list[dict[str, Any]]) -> dict[str, float]:
    """Return, by dialog, the seconds from the second arrival to both partners being told."""
    told: dict[str, list[tuple[float, float]]] = {}
    for one in attendances:
        for dialog, at in one["told"].items():
            told.setdefault(dialog, []).append((one["arrived"], at))
    return {
        dialog: max(at for _, at in both) - max(arrived for arrived, _ in both)
        for dialog, both in told.items()
        if len(both) == 2
    }


def percentile(values: list[float], share: float) -> float:
    """Return the value below which so much of the values lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


if __name__ == "__main__":
    import django

    django.setup()
    seen = attend(*json.load(sys.stdin))
    # Whoever closes the pages of those that have ended already is still told what they saw.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(json.dumps(seen))
