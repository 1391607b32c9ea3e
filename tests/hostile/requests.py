"""Sends hostile requests to every route as every role, and tells what broke."""

import logging
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.core.signals import got_request_exception
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from marketplace.tests.boto import HOST
from tasks.dialog.socket import serve_dialog
from tasks.simulation.browser import parse_page
from tasks.tests.making import entry_query
from tests.hostile.rows import World, bodies_for, names_of_fields, token_of
from tests.hostile.values import PLACES, mutated, written

# What takes so much of a processor holds others up. Of what a database takes, SQLite's is in it.
SLOW_SECONDS = 2.0
CHOICE = re.compile(r'<select[^>]* name="(\w+)".*?<option value="([^"]*)"', re.DOTALL)
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
SITES = {"localhost": "collector.urls", HOST: "marketplace.urls"}
# What only a served instance can answer: it asks Redis and the disk.
LEFT_OUT = {"health"}


@dataclass
class Findings:
    """What broke: by the line of ours that raised, with the first request that made it."""

    broken: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")

    def note(self, what: str, where: str) -> None:
        """Keep the first request that broke in this place."""
        self.broken.setdefault(where, what)

    def __str__(self) -> str:
        told = [f"{where}\n    by {what}" for where, what in sorted(self.broken.items())]
        return "\n".join([f"{len(told)} places broke after {self.counts.total()} requests", *told])


class _Listener(logging.Handler):
    """Keeps the tracebacks that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.caught: list[BaseException] = []
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1]:
            self.caught.append(record.exc_info[1])
        else:
            self.said.append(record.getMessage())


class _Said:
    """What was drawn for one request; the seed among it decides what is picked from the world."""

    def __init__(self, drawn: dict[str, Any]) -> None:
        self.random = Random(drawn["seed"])
        self.texts, self.values = drawn["texts"], drawn["values"]
        self.raw: bytes = drawn["raw"]
        self.operation: tuple[str, Any] = drawn["operation"]

    def pick(self, choices: Sequence[Any]) -> Any:
        """Return one of what the world has."""
        return self.random.choice(choices)

    def text(self) -> str:
        """Return a hostile text."""
        return str(self.pick(self.texts))

    def value(self) -> Any:
        """Return a hostile piece of JSON."""
        return self.pick(self.values)

    def word(self, known: list[str]) -> str:
        """Return a hostile text, or a word that means something here."""
        return self.text() if self.random.randrange(2) else str(self.pick(known))

    def body(self, honest: Any) -> bytes:
        """Return an honest body, a mutated one, any other JSON, or what is none."""
        way = self.random.randrange(8)
        if way == 0:
            return self.raw
        if way == 1:
            return written(self.value())
        return written(honest if way == 2 else mutated(honest, self.values, self.random))


class Knocking:
    """Knocks at a world until it has had enough of it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.findings = Findings()
        self.routes = {host: list(_routes(urls)) for host, urls in SITES.items()}
        self.fields = names_of_fields()
        self.forms: dict[str, list[tuple[str, str, dict[str, str]]]] = {}
        self._listener = _Listener()

    def __enter__(self) -> "Knocking":
        logging.getLogger().addHandler(self._listener)
        got_request_exception.connect(self._raised)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self._listener)
        got_request_exception.disconnect(self._raised)

    def _raised(self, **_: Any) -> None:
        import sys

        error = sys.exc_info()[1]
        if error is not None:
            self._listener.caught.append(error)

    def look_around(self, most_pages: int) -> None:
        """Read the pages that links lead each role to, and remember their forms."""
        for role in self.world.roles:
            role.return_()
            seen, waiting = set[str](), ["/", "/desk/", "/hits/", "/collections/"]
            forms = self.forms[role.name] = []
            while waiting and len(seen) < most_pages:
                path = waiting.pop(0)
                if path in seen or "sign-out" in path:
                    continue
                seen.add(path)
                response = self._timed("look", f"{role.name} GET {path}", role.client.get, path)
                if response is None or "html" not in response.get("Content-Type", ""):
                    if response is not None and response.status_code in (301, 302):
                        waiting.append(response["Location"])
                    continue
                html = response.content.decode("utf-8", "replace")
                page = parse_page(html, path)
                waiting += [_path(link) for link, _ in page.links if _is_own(link)]
                for form, choices in zip(page.forms, _choices(html), strict=False):
                    fields = {**dict.fromkeys(form.vacant, "on"), **form.fields, **choices}
                    for button in form.buttons:
                        fields |= {button.name: button.value} if button.name else {}
                    forms.append((form.method.upper() or "GET", _path(form.action), fields))

    def knock(self, said: dict[str, Any]) -> None:
        """Send one request: what is hostile in it was drawn, what it meets is picked from here."""
        ways = (
            *(self._address, self._address, self._form, self._form, self._form),
            *(self._entry, self._call, self._call, self._wire, self._wire, self._consent),
        )
        ways[said["way"] % len(ways)](_Said(said))

    def _address(self, said: "_Said") -> None:
        role = said.pick(self.world.roles)
        known = self.world.known
        path = PARAMETER.sub(
            lambda _: quote(said.word(known).encode("utf-8", "replace")),
            said.pick(self.routes[role.host]),
        )
        fields = {said.pick(self.fields): said.word(known) for _ in range(said.random.randrange(5))}
        method = said.pick(["GET", "GET", "POST", "POST", "HEAD", "PUT", "OPTIONS"])
        self._send(role, method, f"/{path}", fields, said)

    def _form(self, said: "_Said") -> None:
        role = said.pick([role for role in self.world.roles if self.forms.get(role.name)])
        method, path, fields = said.pick(self.forms[role.name])
        sent = dict(fields)
        for _ in range(said.random.randrange(4) if sent else 0):
            sent[said.pick(sorted(sent))] = said.word(self.world.known)
        self._send(role, method, path, sent, said)

    def _send(
        self, role: Any, method: str, path: str, fields: dict[str, str], said: "_Said"
    ) -> None:
        told = f"{role.name} {method} {path[:200]} {_short(fields)}"
        if method in ("GET", "HEAD", "OPTIONS"):
            query = urlencode(fields, errors="surrogatepass")
            path, _, old = path.partition("?")
            more: dict[str, Any] = {"QUERY_STRING": "&".join(filter(None, (old, query)))}
        elif said.random.randrange(6):
            more = {
                "data": urlencode(fields, errors="surrogatepass").encode(),
                "content_type": "application/x-www-form-urlencoded",
            }
        else:
            kinds = ["multipart/form-data", "multipart/form-data; boundary=x", "application/json"]
            kind = said.pick([*kinds, "text/csv; charset=nonsense"])
            more = {"data": said.raw, "content_type": kind}
            told += f" {kind} {said.raw[:60]!r}"
        self._timed(role.name, told, role.client.generic, method, path, **more)

    def _entry(self, said: "_Said") -> None:
        posting = said.pick(self.world.postings)
        names = ["turkSubmitTo", "assignmentId", "hitId", "workerId", "entryExpires"]
        changed = {said.pick(names): said.text() for _ in range(said.random.randrange(3))}
        if said.random.randrange(2):
            # Signed whatever it says: a marketplace that has lost its mind.
            changed = {name: each for name, each in changed.items() if name == "turkSubmitTo"}
            changed["assignment"] = said.text()
        person = said.pick([said.text(), "AENTRY", "AENTRY"])
        soon = timezone.now() + timedelta(hours=2)
        try:
            query = entry_query(posting, person, expires=soon, **changed)
        except UnicodeEncodeError:
            return
        client = self.world.roles[0].client
        self._timed("entry", f"GET /hit/?{query[:400]}", client.get, f"/hit/?{query}")

    def _consent(self, said: "_Said") -> None:
        fields = {"token": said.text(), "version": said.text(), "consent": said.text()}
        if not said.random.randrange(30):
            fields["token"] = "x" * 12_000_000
        self._send(self.world.roles[0], "POST", "/hit/consent", fields, said)

    def _call(self, said: "_Said") -> None:
        kind = said.pick(sorted(self.world.leases))
        lease = self.world.leases[kind]
        bodies = bodies_for(kind, lease)
        name = said.pick(sorted(bodies))
        body = said.body(bodies[name])
        token = token_of(lease) if said.random.randrange(10) else said.text()
        header = token.encode("latin-1", "replace").decode("latin-1")
        self._timed(
            f"call {kind}",
            f"POST /hit/{name} {kind} {body[:300]!r}",
            self.world.roles[0].client.generic,
            "POST",
            f"/hit/{name}",
            data=body,
            content_type="application/json",
            HTTP_AUTHORIZATION=f"Bearer {header}",
        )

    def _wire(self, said: "_Said") -> None:
        name, given = said.operation
        body = said.body(_plain(given, self.world.live, said.random))
        keys = self.world.keys
        target = f"MTurkRequesterServiceV20170117.{name}"
        headers = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"}
        request = AWSRequest("POST", f"http://{HOST}/", headers=headers, data=body)
        signer = SigV4Auth(
            Credentials(keys.access_key_id, keys.secret_access_key), "mturk-requester", "us-east-1"
        )
        signer.add_auth(request)
        sent = {k: v for k, v in request.headers.items() if k != "Content-Type"} | {"Host": HOST}
        self._timed(
            "wire",
            f"{name} {body[:300]!r}",
            Client(raise_request_exception=False).generic,
            "POST",
            "/",
            data=body,
            content_type=headers["Content-Type"],
            headers=sent,
        )

    def talk(self, talk: list[dict[str, Any]]) -> None:
        """Say things to the socket of a dialog's page, each made of one drawing."""
        first = _Said(talk[0])
        token = token_of(self.world.leases["dialog"])
        introduction = {"token": token} if first.random.randrange(6) else first.value()
        honest = {"id": "0" * 32, "dialog": 1, "text": "What next?", "start": 0, "end": 5}
        kinds = ["ready", "ask", "answer", "typing", "end", "report", "look", "leave", "draft"]
        said = [written(introduction).decode("utf-8", "replace")]
        for one in map(_Said, talk[1:]):
            body = one.body({**honest, "type": one.pick(kinds)})
            said.append(body[:9000].decode("utf-8", "replace"))
        self._timed("socket", f"socket {_short(said)}", async_to_sync(_say_all), said)
        self.findings.counts["socket"] += len(said) - 1

    def _timed(
        self, kind: str, told: str, send: Any, *arguments: Any, again: bool = False, **more: Any
    ) -> Any:
        """Send; what is slow is sent once more: the first of its kind may have had much to load."""
        self.findings.counts[kind] += 1
        began = time.process_time()
        response, raised = None, None
        try:
            response = send(*arguments, **more)
            getattr(response, "close", lambda: None)()
        except Exception as error:
            raised = error
        seconds = time.process_time() - began
        if seconds > self.findings.slowest[0]:
            self.findings.slowest = (seconds, told)
        if seconds > SLOW_SECONDS and again:
            self.findings.note(f"{told} ({seconds:.1f} s)", f"slow: {told[:60]}")
        elif seconds > SLOW_SECONDS:
            self._timed(kind, told, send, *arguments, again=True, **more)
        for error in [*self._listener.caught, *([raised] if raised else [])]:
            self.findings.note(f"{told}\n    {str(error)[:300]!r}", _where(error))
        self._listener.caught.clear()
        for said in self._listener.said:
            self.findings.note(told, f"an error in the log: {said[:100]}")
        self._listener.said.clear()
        status = getattr(response, "status_code", 0)
        self.findings.statuses[status] += 1
        if status >= 500:
            self.findings.note(told, f"status {status} at {told.split('?')[0][:60]}")
        return response


async def _say_all(said: list[str]) -> None:
    headers = [(b"origin", b"http://localhost:8000")]
    scope = {"type": "websocket", "path": "/hit/socket", "headers": headers}
    line = ApplicationCommunicator(serve_dialog, scope)
    await line.send_input({"type": "websocket.connect"})
    assert (await line.receive_output())["type"] == "websocket.accept"
    for words in said:
        await line.send_input({"type": "websocket.receive", "text": words})
        while not await line.receive_nothing(timeout=0.02, interval=0.005):
            if (await line.receive_output())["type"] == "websocket.close":
                break
    await line.send_input({"type": "websocket.disconnect", "code": 1001})
    await line.wait()


def _routes(urls: str) -> Iterator[str]:
    def walk(resolver: URLResolver, before: str) -> Iterator[str]:
        for each in resolver.url_patterns:
            if isinstance(each, URLPattern):
                if each.name not in LEFT_OUT:
                    yield before + str(each.pattern)
            else:
                yield from walk(each, before + str(each.pattern))

    yield from walk(get_resolver(urls), "")


def _choices(html: str) -> Iterator[dict[str, str]]:
    """Yield the lists to choose from of each form, with their first choice."""
    for form in re.findall(r"<form.*?</form>", html, re.DOTALL):
        yield dict(
            re.findall(r'<select[^>]* name="(\w+)".*?<option value="([^"]*)"', form, re.DOTALL)
        )


def _is_own(link: str) -> bool:
    return link.startswith(("/", "http://localhost", f"http://{HOST}"))


def _path(link: str) -> str:
    return "/" + link.split("://", 1)[1].partition("/")[2] if "://" in link else link


def _plain(given: Any, live: dict[str, list[str]], rng: Random) -> Any:
    """Return parameters as JSON has them: times are numbers; places of live ids are filled."""
    if isinstance(given, datetime):
        return given.timestamp()
    if isinstance(given, dict):
        return {name: _plain(each, live, rng) for name, each in given.items()}
    if isinstance(given, list):
        return [_plain(each, live, rng) for each in given]
    return rng.choice(live[given[1:]]) if given in PLACES.values() else given


def _short(whole: Any) -> str:
    return repr(whole)[:400]


def _where(error: BaseException) -> str:
    """Return the last line of ours that an error came through, and what it says."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if ".venv" not in one.filename and "/tests/" not in one.filename]
    at = f"{ours[-1].filename.split('/h/')[-1]}:{ours[-1].lineno}" if ours else "nowhere of ours"
    return f"{type(error).__name__} at {at}"
