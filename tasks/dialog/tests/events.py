"""A small crowd to which anything may happen, and what must hold whatever does."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import F, Sum

from collector.models import Stage
from collector.protocols.creation import parameters_of
from tasks.dialog import (
    maintenance as dialog_maintenance,
)
from tasks.dialog import moves, pairing, presence, settlement, waiting_room
from tasks.dialog.dialog_state import state_of, view_of
from tasks.dialog.moves import Move
from tasks.dialog.tests.making import make_lease, message
from tasks.models import (
    Dialog,
    DialogState,
    Lease,
    LeaseState,
    Payment,
    Posting,
    Ticket,
    TicketState,
    Topic,
    Worker,
)
from tasks.tests.making import NOW
from tasks.work import dialog_rules as rules
from tasks.work import leases
from tasks.work.dialog_rules import Ending, Refused, Reply, limits_of
from tasks.work.passages import section_of

COST = Sum(F("amount_cents") + F("fee_cents"), default=0)


class PowerCut(Exception):
    """The process dies in the middle of a transaction."""


@dataclass
class Crowd:
    """People by number; what each of them does is stored as their socket would store it."""

    stage: Stage
    workers: list[Worker]
    now: datetime = NOW
    rng: random.Random = field(default_factory=lambda: random.Random(5))

    def happen(self, what: str, who: int, seconds: int) -> None:
        """Let something happen to one of them, if it can."""
        self.now += timedelta(seconds=seconds)
        ticket = self.ticket_of(who)
        if what == "come":
            self.come(who)
        elif what == "look after":
            dialog_maintenance.maintain_dialogs(self.stage, self.now, self.rng)
        elif what == "power cut":
            self.look_after_with_a_power_cut()
        elif ticket:
            self.act(what, ticket)

    def come(self, who: int) -> None:
        """Let somebody take a HIT, unless they are at one, and open its socket."""
        worker = self.workers[who]
        lease = Lease.objects.filter(worker=worker, state=LeaseState.LIVE).first()
        try:
            lease = lease or make_lease(self.stage, worker, self.now)
            ticket = waiting_room.arrive(lease, self.now)
        except (AssertionError, waiting_room.NoRoom):
            # There is nothing new for them, or no money.
            return
        presence.connected(ticket.pk, self.now)
        pairing.claim(ticket, self.now, self.rng)

    def ticket_of(self, who: int) -> Ticket | None:
        """Return the newest ticket of somebody."""
        return Ticket.objects.filter(worker=self.workers[who]).order_by("-id").first()

    def act(self, what: str, ticket: Ticket) -> None:
        """Let the holder of a ticket do something; what is refused changes nothing."""
        last = Dialog.objects.filter(student_ticket=ticket) | Dialog.objects.filter(
            teacher_ticket=ticket
        )
        dialog = last.order_by("-id").first()
        if what == "sign":
            presence.seen([ticket.pk], self.now)
        elif what == "cut":
            presence.disconnected(ticket.pk, self.now)
        elif what == "ready" and dialog:
            presence.ready(dialog.pk, ticket.pk, self.now)
        elif what == "finish":
            settlement.finish(ticket, self.now)
        elif what == "return":
            leases.end(ticket.lease, LeaseState.RETURNED, self.now)
        elif dialog:
            try:
                self.speak(what, dialog, ticket)
            except Refused:
                return

    def speak(self, what: str, dialog: Dialog, ticket: Ticket) -> None:
        """Let the holder of a ticket make a move in a dialog, also in one that is over."""
        if what == "ask":
            asked = Move(dialog.pk, message(), "What happened then?")
            moves.make_now(view_of(ticket.pk), asked, self.now)
        elif what == "answer":
            first = section_of(dialog.topic.seed_id).tokens[0]
            reply = Reply(first[0], first[1], "follow_up", "yes")
            moves.make_now(view_of(ticket.pk), Move(dialog.pk, message(), reply), self.now)
        elif what == "answer none":
            reply = Reply(None, None, "dont", "neither")
            moves.make_now(view_of(ticket.pk), Move(dialog.pk, message(), reply), self.now)
        elif what == "end":
            moves.end(dialog.pk, moves.role_of(dialog, ticket), Ending.ENDED, self.now)
        elif what == "report":
            moves.report(dialog.pk, ticket, "rude", "", self.now)

    def look_after_with_a_power_cut(self) -> None:
        """Settle what is over, and die where money is about to move."""
        whole = settlement._settle

        def die(*_: object) -> None:
            raise PowerCut

        settlement._settle = die
        try:
            for step in (settlement.settle_all, presence.end_absent):
                step(self.stage, self.now)
        except PowerCut:
            return
        finally:
            settlement._settle = whole

    def go_home(self) -> None:
        """Let everybody close their page, and time pass until nobody can be at it any more."""
        for ticket in Ticket.objects.filter(connections__gt=0):
            Ticket.objects.filter(pk=ticket.pk).update(connections=0, seen_at=self.now)
        for minutes in (5, 5, 5, 240, 1):
            self.now += timedelta(minutes=minutes)
            leases.expire_overdue(self.now)
            dialog_maintenance.maintain_dialogs(self.stage, self.now, self.rng)


def check(crowd: Crowd) -> None:
    """Assert what must hold after every event."""
    collection = crowd.stage.collection
    collection.refresh_from_db()
    held = sum(
        rows.objects.aggregate(cents=Sum("reserved_cents", default=0))["cents"]
        for rows in (Posting, Ticket, Dialog)
    )
    assert collection.reserved_cents == held
    assert collection.spent_cents == Payment.objects.aggregate(cents=COST)["cents"]
    unsettled = list(Dialog.objects.filter(settled=False))
    busy = Counter(
        ticket for row in unsettled for ticket in (row.student_ticket_id, row.teacher_ticket_id)
    )
    assert set(busy.values()) <= {1}
    for ticket in Ticket.objects.all():
        talks = ticket.state in (TicketState.CHECKING, TicketState.TALKING)
        assert talks == (ticket.pk in busy), ticket.state
        assert presence.seconds_waited(ticket, crowd.now) >= 0
    for topic in Topic.objects.all():
        rows = list(topic.dialogs.all())
        kept = [row for row in rows if not row.settled or state_of(row).completed >= 3]
        assert topic.taken == len(kept)
        people = Counter(person for row in rows for person in (row.student_id, row.teacher_id))
        assert set(people.values()) <= {1}, "somebody has met a section twice"


def check_over(crowd: Crowd) -> None:
    """Assert that everybody is done, and that the ledger says what the turns say."""
    assert set(Ticket.objects.values_list("state", flat=True)) <= {TicketState.DONE.value}
    assert not Dialog.objects.exclude(state=DialogState.OVER, settled=True).exists()
    limits = limits_of(parameters_of(crowd.stage.collection).stages()[crowd.stage.name])
    owed = {}
    for dialog in Dialog.objects.all():
        cents = rules.earned_cents(state_of(dialog).completed, limits)
        for ticket in (dialog.student_ticket_id, dialog.teacher_ticket_id):
            owed[f"turns:{dialog.pk}:{ticket}"] = cents
    rows = Payment.objects.filter(key__startswith="turns:")
    ledger = dict(rows.values_list("key", "amount_cents"))
    assert ledger == {key: cents for key, cents in owed.items() if cents}
    longest = 15 * 15
    waits = Payment.objects.filter(key__startswith="wait:").values_list("amount_cents", flat=True)
    assert all(0 < cents <= longest for cents in waits)
