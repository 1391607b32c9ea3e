"""Whole lives of small collections, in one process: the real pages, the real marketplace, any hour.

People take HITs on the marketplace's site, work on Collector's pages, hand in, walk away, come too
late or give back; requesters give bonuses on either side, reject and take back. What comes of it
is drawn from one seed.
"""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.db.models import Count, F, Sum
from django.utils import timezone

from annotation.decisions.verdicts import decide_collection
from annotation.readers.human_performance import sample_questions
from collector.models import Corpus, Paragraph
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import Candidate
from collector.seeds.selection import store_seeds
from common.actions import ActionError
from marketplace import clock
from marketplace.models import LedgerEntry
from marketplace.models.money import LedgerKind
from marketplace.people.account_opening import keys_of, open_requester, write_keys
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.visitor import Frame, Visitor
from tasks.crowd import requester_api
from tasks.dialog import dialog_maintenance, moves, pairing, presence, waiting_room
from tasks.dialog.dialog_state import view_of
from tasks.dialog.moves import Move
from tasks.dialog.rules import Ending, Refused, Reply
from tasks.dialog.sections import section_of
from tasks.dialog.waiting_room import depart
from tasks.lifecycle import publication
from tasks.lifecycle.maintenance import maintain
from tasks.models import (
    Dialog,
    DialogState,
    Grant,
    GrantState,
    Lease,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    Rejection,
    RejectionState,
    Session,
    Submission,
    TicketState,
)
from tasks.money import bonuses, rejections
from tasks.people import qualifications
from tests.page_workers import CONSENT, STATE, Person

# How many paragraphs a seed has: two of a pair or a set, a section of two with what comes before.
PAGES = {"hotpotqa": 2, "quac": 3, "rag": 2}
PAIR = {"type": "bridge", "form": "any", "set": "places"}


class Life:
    """A published collection, its marketplace, and everybody who comes."""

    def __init__(
        self,
        world: "World",
        protocol: str,
        corpus: Corpus,
        changed: dict[str, Any],
        folds: list[str],
        seed: int,
        budget_cents: int = 10**7,
    ) -> None:
        self.rng = random.Random(seed)
        self.requester, self.wire = world.requester, world.wire
        self.owed_before = 0
        self.owed_before = self.owed_there()
        self.corpus, self.folds = corpus, folds
        self.collection = create_collection(
            f"life-{uuid4().hex[:8]}",
            get_protocol(protocol),
            corpus,
            overrides=changed,
            seed=seed,
            now=timezone.now(),
            budget_cents=budget_cents,
            requester_name="Rita",
            requester_contact="rita@example.org",
        )
        names = ("ada", "grace", "edith", "ida")
        self.people = [Visitor(f"{name} {uuid4().hex[:6]}") for name in names]
        self.late: list[tuple[Person, dict[str, Any], dict[str, Any], Frame]] = []

    def begin(self) -> int:
        """Plant the seeds, publish, and return the maximum total that is said then."""
        parameters = parameters_of(self.collection)
        paragraphs = Paragraph.objects.filter(article__corpus=self.corpus).order_by("pk")
        rows = list(paragraphs.values_list("pk", flat=True))
        entries, at = [], 0
        for name, table in parameters.stages().items():
            if table.items_from != "seeds":
                continue
            pages = PAGES.get(self.collection.protocol, 1)
            number = table.items_per_hit if table.qualifies else len(self.folds)
            for each in range(number):
                chosen = tuple(rows[(pages * at + page) % len(rows)] for page in range(pages))
                fold = "" if table.qualifies else self.folds[each]
                at += 1
                payload = dict(PAIR) if table.kind == "pair" else {}
                entries.append((Candidate(f"{at}", "", chosen, payload), at, name, fold))
        store_seeds(self.collection, entries)
        publication.publish(self.collection)
        self.collection.refresh_from_db()
        return self.collection.maximum_cents or 0

    def step(self) -> None:
        """Let one thing happen, then the jobs look."""
        acts = [self.work, self.work, self.work, self.work, self.talk, self.talk, self.come_late]
        acts += [self.let_in, self.let_in, self.pass_time, self.pass_time, self.reward, self.reject]
        for act in self.rng.sample(acts, 3):
            act()
        self.maintain()

    def maintain(self) -> None:
        """Do what the jobs do."""
        self.collection.refresh_from_db()
        now = timezone.now()
        for stage in self.collection.stages.filter(kind="dialog"):
            dialog_maintenance.maintain_dialogs(stage, now, self.rng)
        decide_collection(self.collection, now)
        sample_questions(self.collection)
        done = maintain(self.collection, now)
        assert done is not None
        self.collection.refresh_from_db()

    def end(self) -> None:
        """Close it, and let everything that is owed be paid and everything held be let go."""
        publication.finish(self.collection, "Enough.", "rita", timezone.now())
        for _ in range(4):
            clock.advance(timedelta(hours=60))
            self.maintain()
            for visitor in self.people:
                self.collect_owed(visitor)
        for _ in range(3):
            self.maintain()

    def accept(self, visitor: Visitor, posting: Posting) -> Frame | None:
        """Return the frame of a HIT that the visitor accepts, None where they may not."""
        try:
            return visitor.accept({"HITId": posting.external_id})
        except AssertionError:
            return None

    def open(self, visitor: Visitor, stages: list[str]) -> tuple[Any, ...] | None:
        """Return (person, state, frame, stage) of a page of work, None where there is none."""
        postings = Posting.objects.filter(
            stage__collection=self.collection,
            stage__name__in=stages,
            state=PostingState.LIVE,
            worker__isnull=True,
        )
        taken = Lease.objects.filter(state="live").values("session__posting")
        free = list(postings.exclude(pk__in=taken))
        if not free:
            return None
        posting = self.rng.choice(free)
        frame = self.accept(visitor, posting)
        if frame is None:
            return None
        person = Person(visitor.worker.worker_id, self.collection)
        person.rng = self.rng
        parts = urlsplit(frame.url)
        page = person.browser.get(f"{parts.path}?{parts.query}")
        if token := CONSENT.search(page.content.decode()):
            form = {"token": token[1], "version": "1", "consent": "agree"}
            page = person.browser.post("/hit/consent", form)
        found = STATE.search(page.content.decode())
        if not found:
            visitor.send(f"{frame.path}return/")
            return None
        return person, json.loads(found[1]), frame, posting.stage

    def work(self) -> None:
        """Let somebody take a HIT: hand it in, leave half-way, give it back or come too late."""
        visitor = self.rng.choice(self.people)
        names = [
            stage.name for stage in self.collection.stages.exclude(kind="dialog").order_by("?")
        ]
        tried = (self.open(visitor, names) for _ in range(3))
        opened = next((one for one in tried if one), None)
        if opened is None:
            return
        person, state, frame, _ = opened
        data = person._typed(state, lambda state, data: None)
        fate = self.rng.random()
        if fate < 0.6:
            self.hand_in(person, state, data, frame)
        elif fate < 0.7:
            visitor.send(f"{frame.path}return/")
        else:
            saved = {"version": 0, "draft": {"data": data, "ui": {}}}
            person.post(state, "draft", saved)
            self.late.append((person, state, data, frame))

    def hand_in(
        self, person: Person, state: dict[str, Any], data: dict[str, Any], frame: Frame
    ) -> None:
        """Hand work in, and mostly its receipt too."""
        reply = person.post(state, "submit", {"data": data})
        if reply.status_code == 200 and self.rng.random() < 0.95:
            frame.submit(**reply.json()["form"]["fields"])

    def come_late(self) -> None:
        """Let somebody who walked away hand in after all, perhaps after their time."""
        if self.late:
            self.hand_in(*self.late.pop(self.rng.randrange(len(self.late))))

    def talk(self) -> None:
        """Let two people come to the waiting room, and talk for as long as they like."""
        stages = [stage.name for stage in self.collection.stages.filter(kind="dialog")]
        if not stages:
            return
        here = []
        for visitor in self.rng.sample(self.people, self.rng.choice((1, 2, 2, 2))):
            opened = self.open(visitor, stages)
            if opened is None:
                continue
            person, state, frame, _ = opened
            lease = Lease.objects.filter(worker__identity__person=person.name).latest("pk")
            try:
                ticket = waiting_room.arrive(lease, timezone.now())
            except waiting_room.NoRoom:
                visitor.send(f"{frame.path}return/")
                continue
            presence.connected(ticket.pk, timezone.now())
            here.append((person, state, frame, ticket))
        if not here:
            return
        now = timezone.now()
        pairing.sweep(here[0][3].stage, now, self.rng)
        for dialog in Dialog.objects.filter(
            stage__collection=self.collection, state=DialogState.CHECKING
        ):
            for ticket in (dialog.student_ticket_id, dialog.teacher_ticket_id):
                presence.ready(dialog.pk, ticket, now)
            self.say(dialog, now)
        clock.advance(timedelta(minutes=self.rng.choice((1, 5, 30))))
        self.maintain()
        for person, state, frame, ticket in here:
            ticket.refresh_from_db()
            if ticket.state != TicketState.DONE and self.rng.random() < 0.5:
                depart(ticket, timezone.now())
            self.hand_in(person, state, {"dialog": True}, frame)

    def say(self, dialog: Dialog, now: datetime) -> None:
        """Complete some turns, and end the dialog somehow."""
        dialog.refresh_from_db()
        if dialog.state != DialogState.TALKING:
            return
        tokens = section_of(dialog.topic.seed_id).tokens
        reply = Reply(tokens[0][0], tokens[1][1], "follow_up", "yes")
        for _ in range(self.rng.randrange(14)):
            try:
                student = view_of(dialog.student_ticket_id)
                moves.make(student, Move(dialog.pk, uuid4(), "What came next?"), now)
                teacher = view_of(dialog.teacher_ticket_id)
                moves.make(teacher, Move(dialog.pk, uuid4(), reply), now)
            except Refused:
                return
        ending = self.rng.choice((Ending.ENDED, Ending.LEFT))
        moves.end(dialog.pk, moves.role_of(dialog, dialog.student_ticket), ending, now)

    def let_in(self) -> None:
        """Decide about everybody who tried a qualification."""
        for grant in Grant.objects.filter(
            qualification__stage__collection=self.collection, state=GrantState.SUBMITTED
        ):
            granted = self.rng.random() < 0.9
            qualifications.decide(grant, granted=granted, note="", by="rita", now=timezone.now())

    def pass_time(self) -> None:
        """Let minutes, hours or days go by."""
        hours = self.rng.choice((0.3, 4, 72))
        clock.advance(timedelta(hours=hours))

    def reward(self) -> None:
        """Give a bonus on the collection's pages, or with the account alone."""
        handed_in = Submission.objects.filter(lease__unit__stage__collection=self.collection)
        listed = list(handed_in.exclude(state="held"))
        if not listed:
            return
        work, cents = self.rng.choice(listed), self.rng.randrange(1, 300)
        if self.rng.random() < 0.5:
            try:
                why = f"Well done, {uuid4().hex}."
                bonuses.give(work.lease, cents, why, "rita", uuid4(), timezone.now())
            except ActionError:
                return
        else:
            self.wire.send_bonus(
                WorkerId=work.session.person,
                AssignmentId=work.session.session_id,
                BonusAmount=f"{cents / 100:.2f}",
                Reason=f"Behind its back, {uuid4().hex}.",
                UniqueRequestToken=uuid4().hex,
            )

    def reject(self) -> None:
        """Propose a rejection, agree to one, or take one back."""
        now = timezone.now()
        stays = Session.objects.filter(posting__stage__collection=self.collection)
        try:
            rows = Rejection.objects.filter(session__in=stays)
            proposed = rows.filter(state=RejectionState.PROPOSED).first()
            rejected = rows.filter(state=RejectionState.REJECTED).first()
            if rejected and self.rng.random() < 0.6:
                rejections.take_back(rejected, "It was good.", "rita", now)
            elif proposed:
                rejections.confirm(proposed, "It is.", "grace", now)
            elif stays.exists():
                stay = self.rng.choice(list(stays))
                rejections.propose(stay, "Every answer is copied.", "rita", now)
        except ActionError:
            return

    def collect_owed(self, visitor: Visitor) -> None:
        """Let somebody collect what they are owed beside."""
        owed = Posting.objects.filter(
            stage__collection=self.collection,
            state=PostingState.LIVE,
            worker__identity__person=visitor.worker.worker_id,
        )
        for posting in owed:
            if frame := self.accept(visitor, posting):
                frame.submit(answer="collected")

    def cost(self) -> int:
        """Return what the collection has cost or holds, without what was added to it."""
        self.collection.refresh_from_db()
        return self.collection.reserved_cents + self.collection.spent_cents - self.entered()

    def entered(self) -> int:
        """Return what bonuses that people gave cost, as far as they are in the ledger."""
        given = Payment.objects.filter(collection=self.collection).exclude(by="")
        owed = given.exclude(state=PaymentState.WITHHELD)
        return int(owed.aggregate(c=Sum(F("amount_cents") + F("fee_cents"), default=0))["c"])

    def withdrawn(self) -> int:
        """Return by how much rejections that were withdrawn have raised the maximum.

        Their money had gone to whoever did the work anew, so both are paid.
        """
        raised = self.collection.revisions.filter(key="maximum_cents", by="rita")
        cents = sum(each.new - each.old for each in raised)
        restored = Rejection.objects.filter(state=RejectionState.RESTORED)
        postings = restored.filter(session__posting__stage__collection=self.collection)
        rows = Payment.objects.filter(posting__in=postings.values("session__posting"))
        worth = rows.aggregate(c=Sum(F("amount_cents") + F("fee_cents"), default=0))["c"]
        assert cents <= worth, f"raised by {cents} cents, where {worth} were withdrawn"
        return cents

    def told(self) -> str:
        """Return what happened, in a line."""
        paid = Payment.objects.filter(collection=self.collection).order_by()
        kinds = dict(paid.values_list("kind").annotate(n=Count("pk")))
        bonuses_by_people = paid.exclude(by="").count()
        withheld = paid.filter(state=PaymentState.WITHHELD).count()
        return (
            f"{self.collection.protocol}: {kinds}, {bonuses_by_people} bonuses by people, "
            f"{withheld} withheld; {self.cost()} cents"
        )

    def confirmed(self) -> int:
        """Return what the ledger says that was paid, without fees."""
        paid = Payment.objects.filter(collection=self.collection, state=PaymentState.CONFIRMED)
        return int(paid.aggregate(cents=Sum("amount_cents", default=0))["cents"])

    def owed_there(self) -> int:
        """Return what the marketplace says that workers came to be owed since it began."""
        rows = LedgerEntry.objects.filter(
            requester=self.requester, kind__in=(LedgerKind.REWARD, LedgerKind.BONUS)
        )
        return int(rows.aggregate(c=Sum("amount_cents", default=0))["c"]) - self.owed_before


class World:
    """A marketplace with one requester's account, its wire inside this process."""

    def __init__(self) -> None:
        self.requester = open_requester("Rita", "rita@lab.example", 10**9, clock.now())
        self.keys = keys_of(self.requester, ENDPOINT, clock.now())
        self.wire = mturk_client(self.keys)


@contextmanager
def whole_world(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[World]:
    """Put both halves under one clock, and the wire into this process."""
    real = timezone.now
    settings.MARKETPLACE_OPEN_SIGN_IN = True
    settings.MARKETPLACE_BASE_URL = ""
    settings.MARKETPLACE_DELIVER_EVENTS = False
    settings.MTURK_ENDPOINT_URL = ENDPOINT
    settings.SUBMIT_ORIGINS = [ENDPOINT]
    with clock.shifted(), TemporaryDirectory() as folder:
        began = real() - clock.now()
        monkeypatch.setattr(timezone, "now", lambda: clock.now() + began)
        world = World()
        # A file of its own: pages keep the secret of the file that they have read.
        settings.MTURK_KEYS_FILE = Path(folder, "requester.json")
        write_keys(world.keys, settings.MTURK_KEYS_FILE)
        monkeypatch.setattr(requester_api, "_client", lambda *_: world.wire)
        yield world
