"""The processes of a simulated site: forked, with memories of their own, one at work at a time.

The run that drives them sends a command through a pipe; a process may ask back while it works: for
the marketplace, which another process serves, or for a pause, in which others act.
"""

import gc
import logging
import os
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from http.cookies import SimpleCookie
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from select import select
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.db import connections, transaction
from django.http import HttpResponse
from django.test.client import ClientHandler, FakePayload
from django.urls import Resolver404, resolve

from tests.simulator.databases import NAMES
from tests.simulator.machine import reseed
from tests.simulator.sockets import Event, Sockets, VirtualLoop

SERVE = ClientHandler.__call__
# How many processes a run may ever have: each that dies is followed by another.
MOST_PROCESSES = 40
SILENCE_SECONDS = 120
BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE datname = ANY(%s) AND wait_event_type = 'Lock'"
# What pays somebody at the marketplace.
PAYS = ("approve_assignment", "send_bonus")


@dataclass(frozen=True)
class Trouble:
    """What befalls a process during one command.

    loss: the share of calls of the marketplace that are lost, unheard or doubled.
    dies_at, pauses_at: the number of the moment, before a statement or a transaction, at which it
    dies or others act; None for never. On SQLite nobody else can write inside a transaction, so
    there moments inside of one do not count.
    """

    loss: float = 0.0
    dies_at: int | None = None
    pauses_at: int | None = None


NONE = Trouble()


@dataclass
class Reply:
    """What a page answered, as it goes through a pipe."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    cookies: SimpleCookie
    content: bytes
    is_streaming: bool = False
    errors: list[str] = field(default_factory=list)


class Died(Exception):
    """The process has ended in the middle of its command."""


# --- In a process of the site --------------------------------------------------------------------
class Served:
    """One process: it does what it is told to, and remembers whatever its modules remember."""

    current: "Served"

    def __init__(self, name: str, line: Connection) -> None:
        Served.current = self
        self.name, self.line = name, line
        self.trouble, self.chance, self.moment = NONE, random.Random(0), 0
        self.errors: list[str] = []

    def ask(self, what: str, *given: Any) -> Any:
        """Ask the run for something in the middle of a command."""
        self.line.send((what, given))
        return self.line.recv()

    def run(self) -> None:
        """Do commands until there are no more."""
        # Nothing of what is loaded will ever go.
        gc.freeze()
        watch_log(self.errors)
        self._watch_transactions()
        # What this process asks of the marketplace, another one serves.
        through(lambda *request: self.ask("wire", *request))
        while True:
            name, given, seed, self.trouble = self.line.recv()
            if name == "exit":
                self.line.send(os.times()[:2])
                os._exit(0)
            reseed(seed)
            self.chance, self.moment = random.Random(seed), 0
            VirtualLoop.chance = self.chance
            watched = self.trouble.dies_at is not None or self.trouble.pauses_at is not None
            for each in NAMES:
                connections[each].execute_wrappers[:] = [self._statement] if watched else []
            self.errors.clear()
            try:
                answer = getattr(self, name)(*given)
            except Exception as error:
                self.errors.append(f"{name}: {error!r}")
                logging.getLogger("simulator").debug("raised", exc_info=True)
                answer = None
            open_ones = [each for each in NAMES if connections[each].in_atomic_block]
            self.errors += [f"a transaction is left open in {each}" for each in open_ones]
            self.line.send(("done", (answer, list(self.errors))))

    def _statement(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self._pass_a_moment()
        return execute(sql, params, many, context)

    def _watch_transactions(self) -> None:
        enter = transaction.Atomic.__enter__

        def watched(block: transaction.Atomic) -> None:
            if connections[block.using or "default"].execute_wrappers:
                self._pass_a_moment()
            enter(block)

        transaction.Atomic.__enter__ = watched  # type: ignore[method-assign]

    def _pass_a_moment(self) -> None:
        if any(
            connections[each].in_atomic_block and connections[each].vendor == "sqlite"
            for each in NAMES
        ):
            return
        moment, self.moment = self.moment, self.moment + 1
        if moment == self.trouble.dies_at:
            self.line.send(("died", ()))
            os._exit(1)
        if moment == self.trouble.pauses_at:
            self.ask("pause", self.name)

    def heard(self, client: Any) -> "Heard":
        """Return a client of the requester API whose replies get lost as this command has it."""
        return Heard(client, self)

    # Commands.
    def page(self, environ: dict[str, str], body: bytes, enforce_csrf: bool) -> Reply:
        """Serve a request."""
        return served(environ, body, enforce_csrf)

    @cached_property
    def sockets(self) -> Sockets:
        """Return the sockets of this process."""
        return Sockets(self.name, self.ask)

    def open_socket(self, number: int) -> list[Event]:
        """Open a socket of a dialog's page."""
        self.sockets.begin(number)
        return self.sockets.settle()

    def cut_socket(self, number: int) -> list[Event]:
        """Close a socket from the page's side."""
        self.sockets.cut(number)
        return self.sockets.settle()

    def say(self, number: int, text: str) -> list[Event]:
        """Take what a page says."""
        self.sockets.say(number, text)
        return self.sockets.settle()

    def hear(self, channel: str, data: bytes) -> list[Event]:
        """Hear what another process says."""
        self.sockets.hear(channel, data)
        return self.sockets.settle()

    def lose_redis(self) -> list[Event]:
        """Hear no other process until Redis is back."""
        self.sockets.lose_redis()
        return self.sockets.settle()

    def settle(self) -> list[Event]:
        """Do what is due by the clock."""
        return self.sockets.settle()

    def jobs(self, names: list[str]) -> None:
        """Do a round of these jobs, each "module.function"."""
        for name in names:
            module, _, function = name.rpartition(".")
            getattr(import_module(module), function)()

    def command(self, name: str, *given: str) -> str:
        """Run a command of `manage.py`; returns what it printed, or how it refused."""
        from io import StringIO

        from django.core.management import CommandError, call_command

        printed = StringIO()
        try:
            call_command(name, *given, stdout=printed, stderr=printed)
        except (CommandError, SystemExit) as refused:
            return f"refused: {refused}"
        return printed.getvalue()


class Heard:
    """boto3's client, whose replies may be lost, or asked for twice as its retries do."""

    def __init__(self, client: Any, process: Served) -> None:
        self._client, self._process = client, process

    def __getattr__(self, name: str) -> Any:
        from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

        operation = getattr(self._client, name)

        def call(**parameters: Any) -> Any:
            loss = self._process.trouble.loss
            fate = self._process.chance.random()
            if fate < loss / 3:
                raise ConnectTimeoutError(endpoint_url="marketplace")
            reply = operation(**parameters)
            if fate < loss * 2 / 3:
                if name in PAYS:
                    self._process.ask("seen", "a payment whose reply was lost")
                raise ReadTimeoutError(endpoint_url="marketplace")
            return operation(**parameters) if fate < loss else reply

        return call


def served(environ: dict[str, str], body: bytes, enforce_csrf: bool) -> Reply:
    """Return what a page of the site answers."""
    whole = {**environ, "wsgi.input": FakePayload(body), "wsgi.errors": None}
    whole |= {"wsgi.version": (1, 0), "wsgi.multiprocess": True, "wsgi.multithread": False}
    whole |= {"wsgi.run_once": False}
    found = SERVE(ClientHandler(enforce_csrf), whole)
    # What streams is read here: a pipe has no other end to wait at.
    content = b"".join(found) if found.streaming else found.content
    return Reply(
        found.status_code,
        found.reason_phrase,
        list(found.items()),
        found.cookies,
        content,
        is_streaming=found.streaming,
    )


def watch_log(errors: list[str]) -> None:
    """Note whatever is logged as an error: a step that failed is a finding."""

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name == "django.request":
                return  # its reply's status says so
            why = f" {record.exc_info[1]!r}" if record.exc_info else ""
            errors.append(f"{record.getMessage()[:90]}{why[:160]}")

    for name in (None, "django", "tasks", "annotation", "marketplace", "collector", "common"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], name is None
        logger.setLevel(logging.ERROR)
        logger.addHandler(Watch(logging.ERROR))


# --- In the run ----------------------------------------------------------------------------------
class Process:
    """The run's end of a process: `ask` it for a command."""

    def __init__(self, name: str, site: "Site") -> None:
        self.name, self.site = name, site
        self.line = site.born(name)
        self.is_busy = False

    def ask(self, command: str, *given: Any, seed: str, trouble: Trouble = NONE) -> Any:
        """Return what a command came to; raises Died."""
        assert not self.is_busy, f"{self.name} is at work"
        # Where the run fails meanwhile the process stays at work: it waits for an answer.
        self.is_busy = True
        self.line.send((command, given, seed, trouble))
        while True:
            self._wait(f"{command} {given!r:.200}")
            what, given_back = self.line.recv()
            if what == "done":
                self.is_busy = False
                answer, errors = given_back
                self.site.errors += errors
                return answer
            if what == "died":
                self.line, self.is_busy = self.site.born(self.name), False
                raise Died(self.name)
            if what == "pause":
                self.site.paused.append(self)
            answer = self.site.answers[what](*given_back)
            if what != "pause":
                self.line.send(answer)
            elif self in self.site.paused:
                self.site.go_on()

    def _wait(self, asked: str) -> None:
        """Return once there is something to read; what holds a lock that others need goes on."""
        for _ in range(SILENCE_SECONDS * 20):
            # Not by `poll`, which waits by the clock of the run.
            if select([self.line], [], [], 0.05)[0]:
                return
            if self.site.paused and self.site.is_blocked():
                self.site.go_on()
        raise RuntimeError(f"{self.name} is silent in {asked}")


class Site:
    """All processes of one run. `answers` holds by name what a process may ask for meanwhile."""

    def __init__(self, names: list[str]) -> None:
        self.errors: list[str] = []
        self.answers: dict[str, Callable[..., Any]] = {}
        # Who stand between two statements while others act.
        self.paused: list[Process] = []
        self._pipes = [Pipe() for _ in range(MOST_PROCESSES)]
        self._n_born = 0
        self._nursery, its_end = Pipe()
        self._pid = os.fork()
        if not self._pid:
            self._bear(its_end)
        self.processes = {name: Process(name, self) for name in names}

    def _bear(self, line: Connection) -> None:
        """Fork a process for each name; it has used no database yet."""
        # One signal ends all of them.
        os.setpgid(0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            number, name = line.recv()
            if not os.fork():
                Served(name, self._pipes[number][1]).run()

    def born(self, name: str) -> Connection:
        """Return the line to a new process."""
        number, self._n_born = self._n_born, self._n_born + 1
        self._nursery.send((number, name))
        return self._pipes[number][0]

    def go_on(self) -> None:
        """Let whoever paused last go on."""
        self.paused.pop().line.send(None)

    def is_blocked(self) -> bool:
        """Return whether a process of this run waits for a lock of PostgreSQL."""
        if connections["default"].vendor == "sqlite":
            return False
        names = [connections[each].settings_dict["NAME"] for each in NAMES]
        with connections["default"].cursor() as cursor:
            cursor.execute(BLOCKED, [names])
            return cursor.fetchone() is not None

    @property
    def can_bear(self) -> bool:
        """Return whether another process may die."""
        return self._n_born < MOST_PROCESSES - 1

    def end(self) -> float:
        """End all processes; return the seconds of CPU time that they and this one took."""
        seconds = sum(os.times()[:2])
        # One that is at work hears nothing but the answer that it waits for.
        for process in self.processes.values():
            if not process.is_busy:
                process.line.send(("exit", (), "", NONE))
                seconds += sum(process.line.recv())
        os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        for pair in self._pipes:
            for each in pair:
                each.close()
        return seconds


def through(serve: Callable[[dict[str, str], bytes, bool], Reply]) -> None:
    """Let every test client of this process have its requests served by `serve`."""

    def call(handler: ClientHandler, environ: dict[str, Any]) -> HttpResponse:
        body = environ["wsgi.input"].read()
        plain = {name: value for name, value in environ.items() if isinstance(value, str)}
        reply = serve(plain, body, handler.enforce_csrf_checks)
        response = HttpResponse(reply.content, status=reply.status, reason=reply.reason)
        del response.headers["Content-Type"]
        for name, value in reply.headers:
            response.headers[name] = value
        response.cookies = reply.cookies
        response.url = response.headers.get("Location", "")  # type: ignore[attr-defined]
        response.is_streamed = reply.is_streaming  # type: ignore[attr-defined]
        request = WSGIRequest({**environ, "wsgi.input": FakePayload(b"")})
        response.wsgi_request = request  # type: ignore[attr-defined]
        return response

    ClientHandler.__call__ = call  # type: ignore[method-assign, assignment]


def route_of(path: str, host: str) -> str:
    """Return the name of the route that serves an address of one of the two sites; "" for none."""
    from django.conf import settings

    try:
        return str(resolve(path, settings.HOST_URLCONFS[host]).url_name)
    except Resolver404:
        return ""
