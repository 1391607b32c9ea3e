"""Two processes serve the two pages of a dialog: moves cross from memory to memory, once stored."""

import asyncio
from uuid import uuid4

import orjson
import pytest
from django.utils import timezone

from tasks.dialog import hub as hubs
from tasks.dialog import presence
from tasks.dialog.dialog_state import view_of
from tasks.dialog.hub import Hub
from tasks.dialog.moves import Move
from tasks.dialog.tests.lines import close_connections
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.dialog.tests.talking import pair
from tasks.models import Dialog, Ticket
from tasks.tests.making import stage_of

pytestmark = pytest.mark.django_db(transaction=True)


class Page:
    """A page that keeps what it was told."""

    def __init__(self):
        self.told = []

    def send(self, message):
        self.told.append(message)

    def reconnect(self):
        raise AssertionError("the database answers")


class Wire:
    """A process's line to the only other one."""

    is_connected = True

    def __init__(self):
        self.other = None

    def listen(self):
        pass

    def elsewhere(self, ticket_ids):
        return list(ticket_ids)

    def report_connection(self, ticket_id, is_here, number, shown=None):
        if shown:
            self.other.meet(ticket_id, shown)

    def notify(self, ticket_ids):
        self.other.notify_here(list(ticket_ids))

    def send_news(self, ticket_ids, news):
        if ticket_ids:
            self.other.receive(ticket_ids, orjson.loads(orjson.dumps(news)))


@pytest.fixture
def looks(monkeypatch):
    """Return the tickets that were looked at in the rows."""
    looked = []

    def refreshed(ticket_id, seen=None):
        looked.append(ticket_id)
        return read(ticket_id, seen)

    read = hubs.socket_actions.refreshed
    monkeypatch.setattr(hubs.socket_actions, "refreshed", refreshed)
    yield looked
    close_connections()


@pytest.fixture
def dialog():
    """Return a dialog that goes on; no socket is open yet."""
    stage, now = stage_of(make_dialogs(1), "dialog"), timezone.now()
    make_waiting(stage, "AADA", "student", now=now)
    dialog = pair(make_waiting(stage, "AGRACE", "teacher", now=now), now)
    Ticket.objects.update(connections=0)
    leases = Dialog.objects.select_related("student_ticket__lease", "teacher_ticket__lease")
    return leases.get(pk=dialog.pk)


def both():
    """Return the hubs of two processes, made where a loop runs."""
    one, other = Hub(), Hub()
    for hub in (one, other):
        hub.notifier, hub._beat = Wire(), lambda: None
    one.notifier.other, other.notifier.other = other, one
    return one, other


async def still(*hubs):
    """Wait until nobody looks at the rows any more."""
    for hub in hubs:
        await asyncio.gather(*hub._tasks)


def holder(ticket):
    return ticket.lease_id, ticket.worker_id


def asked(dialog):
    return Move(dialog.pk, uuid4(), "Where?")


def test_a_move_is_shown_at_the_other_process_without_a_look(dialog, looks):
    async def talk():
        one, other = both()
        asks, answers = Page(), Page()
        connection = await one.enter(asks, holder(dialog.student_ticket))
        await other.enter(answers, holder(dialog.teacher_ticket))
        await still(one, other)
        looks.clear()
        move = asked(dialog)
        await one.make(asks, connection, move, str(move.message))
        return asks, answers

    asks, answers = asyncio.run(talk())
    taken = asks.told[-1]
    change = answers.told[-1]["change"]
    assert (taken["type"], change["turn"]["question"]) == ("taken", "Where?")
    assert change["dialog"]["to_move"] == "teacher"
    assert looks == []


def test_whoever_was_cut_off_for_a_moment_is_shown_from_memory_what_was_said_meanwhile(
    dialog, looks
):
    async def talk():
        one, other = both()
        asks, answers, back, reloaded = Page(), Page(), Page(), Page()
        connection = await one.enter(asks, holder(dialog.student_ticket))
        cut = await other.enter(answers, holder(dialog.teacher_ticket))
        other.leave(answers, cut)
        await still(one, other)
        looks.clear()
        await one.make(asks, connection, move := asked(dialog), str(move.message))
        assert await other.enter(back, holder(dialog.teacher_ticket), again=True) is cut
        assert looks == [], "all of it was told"
        # What happened besides is in the rows alone.
        other.leave(back, cut)
        other.notify_here([cut.ticket_id])
        await other.enter(reloaded, holder(dialog.teacher_ticket), again=True)
        return back, reloaded

    pages = asyncio.run(talk())
    for page in pages:
        turns = page.told[0]["state"]["dialog"]["turns"]
        assert [turn["question"] for turn in turns] == ["Where?"]
    assert looks == [dialog.teacher_ticket_id]


def test_a_second_tab_that_sees_a_move_before_its_news_come_shows_it_in_the_first_too(
    dialog, looks
):
    async def talk():
        one, other = both()
        asks, first, second = Page(), Page(), Page()
        connection = await one.enter(asks, holder(dialog.student_ticket))
        await other.enter(first, holder(dialog.teacher_ticket))
        await still(one, other)
        one.notifier.send_news = lambda *news: on_the_way.append(news)
        await one.make(asks, connection, move := asked(dialog), str(move.message))
        await other.enter(second, holder(dialog.teacher_ticket))
        other.receive(*on_the_way[0])
        await still(one, other)
        return first, second

    on_the_way = []
    for page in asyncio.run(talk()):
        shown = page.told[-1]["state"]["dialog"]
        assert [turn["question"] for turn in shown["turns"]] == ["Where?"]
        assert shown["to_move"] == "teacher"


def test_a_second_tab_that_finds_a_partner_shows_that_in_the_first_at_another_process():
    stage = stage_of(make_dialogs(1), "dialog")
    ada = make_waiting(stage, "AADA", "student", now=timezone.now())
    Ticket.objects.update(connections=0)

    async def come_twice():
        one, other = both()
        first = Page()
        await one.enter(first, holder(ada))
        await still(one, other)
        # A partner comes whom nobody was told of.
        await hubs.in_thread(make_waiting, stage, "AGRACE", "teacher", now=timezone.now())
        await other.enter(Page(), holder(ada))
        await still(one, other)
        return first

    first = asyncio.run(come_twice())
    close_connections()
    assert first.told[-1]["state"]["phase"] == "checking"


def test_whoever_came_to_another_process_while_a_move_was_on_its_way_looks(dialog, looks):
    async def talk():
        one, other = both()
        asks, answers = Page(), Page()
        connection = await one.enter(asks, holder(dialog.student_ticket))
        other.notifier.report_connection = lambda *where: said.append(where)
        await other.enter(answers, holder(dialog.teacher_ticket))
        ((ticket_id, _, _, shown),) = said
        await still(one, other)
        looks.clear()
        one.meet(ticket_id, shown)
        assert looks == [], "both show the same"
        one.notifier.send_news = lambda ticket_ids, news: None
        await one.make(asks, connection, move := asked(dialog), str(move.message))
        one.meet(ticket_id, shown)
        await still(one, other)
        return answers

    said = []
    answers = asyncio.run(talk())
    assert looks == [dialog.teacher_ticket_id]
    assert answers.told[-1]["state"]["dialog"]["turns"][0]["question"] == "Where?"


def test_whoever_comes_back_to_another_process_is_counted_there_and_sees_all(dialog, looks):
    async def talk():
        one, other = both()
        asks, again = Page(), Page()
        left = await one.enter(asks, holder(dialog.student_ticket))
        one.leave(asks, left)
        await other.enter(again, holder(dialog.student_ticket), again=True)
        await one.go(left)
        return again

    again = asyncio.run(talk())
    assert again.told[0]["state"]["phase"] == "talking"
    assert Ticket.objects.get(pk=dialog.student_ticket_id).connections == 1


def test_only_the_worker_of_a_live_lease_in_a_dialog_comes_back_by_one_statement(dialog):
    now, ticket = timezone.now(), dialog.student_ticket
    assert presence.returned(ticket.lease_id, ticket.worker_id, now) == (ticket.pk, True)
    assert presence.returned(ticket.lease_id, ticket.worker_id, now) == (ticket.pk, False)
    assert presence.returned(ticket.lease_id, "AMALLORY", now) is None
    ticket.lease.state = "returned"
    ticket.lease.save()
    assert presence.returned(ticket.lease_id, ticket.worker_id, now) is None
    assert view_of(ticket.pk).ticket.connections == 2
