"""A world with something of everything, and somebody of every role in it."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from django.apps import apps
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import make_decisions, make_full
from collector.models import Collection, Corpus
from collector.models.accounts import owner
from marketplace import clock
from marketplace.models import Assignment, Requester
from marketplace.people.accounts import RequesterKeys, keys_of, open_requester
from marketplace.tests.boto import ENDPOINT, HOST, mturk_client
from marketplace.tests.conftest import QUESTION
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.desk_rows import keys_of_desk, keys_of_host, keys_of_work
from marketplace.tests.forms import KEY, TEST
from marketplace.tests.test_html_question import question as html_question
from marketplace.tests.visitor import Visitor
from tasks.dialog.tests.making import make_dialogs, make_lease, make_talker
from tasks.ledger.tests.making import begin, make_pairs
from tasks.models import Lease, Posting
from tasks.people.lease_context import lease_token
from tasks.tests.making import (
    consent,
    make_collection,
    make_posting,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.tests.visiting import open_page, state_of

_numbers = count(1)


@dataclass
class Role:
    """Somebody at one of the sites; `come` signs them in anew."""

    name: str
    host: str
    come: Callable[[], Client]
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.return_()

    def return_(self) -> None:
        """Sign in again: what they pressed may have signed them out."""
        self.client = self.come()
        self.client.raise_request_exception = False


@dataclass
class World:
    """Roles by site, leases at work, a requester's keys, and words that mean something here."""

    roles: list[Role]
    keys: RequesterKeys
    live: dict[str, list[str]]
    leases: dict[str, Lease]
    postings: list[Posting]
    known: list[str]


def build() -> World:
    """Return a world; `shared` rows are made once, leases and assignments anew each time."""
    number = next(_numbers)
    requester = open_requester(f"Rita {number}", "rita@lab.example", 1_000_000, clock.now())
    keys = keys_of(requester, ENDPOINT, clock.now())
    live = _marketplace(keys, requester, number)
    collections = _collections()
    leases = _leases(collections, number)
    postings = [make_posting(stage_of(collections[0], "question")) for _ in range(3)]
    return World(_roles(requester, number), keys, live, leases, postings, list(_known(live)))


def _marketplace(keys: RequesterKeys, requester: Requester, number: int) -> dict[str, list[str]]:
    rita, ada = mturk_client(keys), Visitor(f"Ada {number}")
    if number == 1:
        keys_of_work(rita, ada, _make_hit)
        keys_of_host(Visitor("Mallory").worker)
        keys_of_desk(requester)
    tested = rita.create_qualification_type(
        Name=f"Tested {number}",
        Description="Answers.",
        QualificationTypeStatus="Active",
        Test=TEST,
        AnswerKey=KEY,
        TestDurationInSeconds=600,
    )["QualificationType"]["QualificationTypeId"]
    hits = [
        _make_hit(rita, MaxAssignments=3),
        _make_hit(rita, MaxAssignments=3, Question=html_question()),
        _make_hit(rita, MaxAssignments=3, Title="One more"),
    ]
    for hit in hits[:2]:
        ada.accept(hit)
    Visitor(f"Grace {number}").submit(hits[0])
    work = list(Assignment.objects.values_list("assignment_id", flat=True))
    return {
        "HITId": [hit["HITId"] for hit in hits],
        "HITTypeId": [hit["HITTypeId"] for hit in hits],
        "QualificationTypeId": [tested],
        "AssignmentId": work[-8:],
        "WorkerId": [ada.worker.worker_id],
        "SubjectLine": ["Hello"],
    }


def _make_hit(client: Any, **changes: Any) -> dict[str, Any]:
    values = {
        "Title": "Ask questions about a passage",
        "Description": "Read ten paragraphs and ask a question about each.",
        "Reward": "0.50",
        "AssignmentDurationInSeconds": 3600,
        "LifetimeInSeconds": 86400,
        "Question": QUESTION,
    }
    made: dict[str, Any] = client.create_hit(**values | changes)["HIT"]
    return made


def _collections() -> list[Collection]:
    """Return an open collection of each kind; what was dropped meanwhile is made anew."""
    found = [_open("pairs", _pairs), _open("pilot", _pilot), _open("talk", _talk)]
    return [found[1], found[2], found[0]]


def _open(slug: str, make: Callable[[], Collection]) -> Collection:
    collection = Collection.objects.filter(slug=slug).first()
    if collection is None:
        for corpus in Corpus.objects.filter(slug__in=("hollin", "lives")):
            # Whoever makes one takes the same name again.
            Corpus.objects.filter(pk=corpus.pk).update(slug=f"old-{corpus.pk}")
        collection = make()
    collection.state = "collecting"
    collection.save(update_fields=["state"])
    collection.stages.update(state="open")
    for stage in collection.stages.all():
        stage.units.update(closed=False, redundancy=30_000)
    return collection


def _pilot() -> Collection:
    pilot = make_collection(budget_cents=10_000_000, pay__approve_after_hours=48.0, seeds=8)
    make_full(pilot, 2)
    make_decisions(pilot)
    return pilot


def _talk() -> Collection:
    return make_dialogs(6, budget_cents=10_000_000)


def _pairs() -> Collection:
    return make_pairs(8, budget_cents=10_000_000)


def _leases(collections: list[Collection], number: int) -> dict[str, Lease]:
    """Return somebody's lease of each kind, where what was changed meanwhile leaves one."""
    pilot, talk, pairs = collections
    found: dict[str, Lease] = {}
    with suppress(AssertionError):
        found["question"] = _writer(pilot, f"AWRITER{number}")
    with suppress(AssertionError):
        found["pair"] = begin(pairs, make_worker(f"APAIR{number}"))
    with suppress(AssertionError):
        talker = make_talker(talk, f"ATALK{number}")
        found["dialog"] = make_lease(stage_of(talk, "dialog"), talker, timezone.now())
    return found


def _writer(pilot: Collection, person: str) -> Lease:
    """Return the lease of somebody who came through the page."""
    worker = make_worker(person, qualified=(stage_of(pilot, "question_qualification"),))
    consent(worker, pilot)
    posting = make_posting(stage_of(pilot, "question"))
    soon = timezone.now() + timedelta(hours=2)
    state_of(open_page(Client(HTTP_HOST="localhost"), posting, person, soon))
    return Lease.objects.get(worker=worker)


def bodies_for(kind: str, lease: Lease) -> dict[str, Any]:
    """Return what an honest page of the kind sends, by the name of the call."""
    data: dict[str, Any] = questions_for(lease) if kind == "question" else {"questions": []}
    if kind == "dialog":
        data = {"dialog": [True]}
    return {
        "draft": {"version": 0, "draft": {"data": data, "ui": {"open": ["0"], "seconds": 12}}},
        "submit": {"data": data},
        "answer": {"item": "0", "data": {"item": "0", "type": "none", "spans": []}},
        "article": {"item": "0", "title": "Hollin"},
        "extend": {},
        "problem": {"message": "The page is empty."},
        "preferences": {"theme": "dark", "size": 2, "sounds": True},
        "instructions_seen": {"version": 1},
    }


def _roles(requester: Requester, number: int) -> list[Role]:
    turns = count(1)

    def at_desk(who: Requester | None) -> Client:
        return DeskVisitor(f"Desk {number} {next(turns)}", who).client

    def signed_in() -> Client:
        browser = Client(HTTP_HOST="localhost")
        browser.force_login(owner())
        return browser

    return [
        Role("nobody at Collector", "localhost", lambda: Client(HTTP_HOST="localhost")),
        Role("the requester", "localhost", signed_in),
        Role("nobody at the marketplace", HOST, lambda: Client(headers={"Host": HOST})),
        Role("a worker", HOST, lambda: _unchecked(Visitor(f"Ada {number}").client)),
        Role("the host", HOST, lambda: _unchecked(at_desk(None))),
        Role("a requester's person", HOST, lambda: _unchecked(at_desk(requester))),
    ]


def _unchecked(client: Client) -> Client:
    """Let a browser send forms without their token, as a page of ours would have had it."""
    client.handler.enforce_csrf_checks = False
    return client


def _known(live: dict[str, list[str]]) -> Iterator[str]:
    """Yield what addresses can name: names, ids, secrets and keys of rows."""
    for ids in live.values():
        yield from ids
    yield from ("pilot", "talk", "pairs", "question", "answer", "consent", "iirc", "README.md")
    yield from map(str, range(1, 12))
    for model in apps.get_models():
        for name in ("key", "secret", "slug", "hit_id", "id"):
            if any(one.attname == name for one in model._meta.concrete_fields):
                rows = model._default_manager.order_by("-pk").values_list(name, flat=True)[:3]
                yield from map(str, rows)


def names_of_fields() -> list[str]:
    """Return every name under which a view looks for something in an address or a form."""
    root = Path(__file__).resolve().parents[2]
    found = set[str]()
    for room in ("collector", "tasks", "annotation", "marketplace"):
        for path in (root / room).rglob("*.py"):
            if "tests" not in path.parts:
                text = path.read_text("utf-8")
                found |= set(
                    re.findall(r"(?:GET|POST|FILES|given|data)\.get(?:list)?\(\"(\w+)\"", text)
                )
                found |= set(re.findall(r"^    (\w+) = forms\.", text, re.MULTILINE))
    return sorted(found)


def token_of(lease: Lease) -> str:
    """Return the token that the lease's page carries."""
    return lease_token(lease)
