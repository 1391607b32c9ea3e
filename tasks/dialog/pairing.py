"""Brings two workers who wait together: claimed by one on arrival, or swept by the job."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet

from collector.models import Stage
from collector.protocols.creation import parameters_of
from common.prepared_sql import JoinedQuery, Table, execute, insert, insert_all
from tasks.dialog.dialog_state import dialog_table
from tasks.dialog.matching import WaitingWorker, match_pairs
from tasks.dialog.pay import longest_dialog_cents
from tasks.dialog.presence import FRESH, is_present, stop_clock, who_are_present
from tasks.models import (
    Dialog,
    Exposure,
    LeaseState,
    PartnerReport,
    Ticket,
    TicketState,
    Topic,
)
from tasks.money import budget

OPEN = JoinedQuery(
    Table(
        "dialog",
        Dialog,
        "id stage_id topic_id student_ticket_id teacher_ticket_id student_id teacher_id state",
    )
)

# How many of those who have waited longest are looked at before one waits oneself.
LOOKED_AT = 20
# How many pairs are begun in one transaction.
AT_ONCE = 100


def claim(ticket: Ticket, now: datetime, rng: random.Random) -> Dialog | None:
    """Return the dialog that the ticket is in, begun now where a partner is free, else None."""
    try:
        return _begin_any(ticket.pk, now, rng) or open_dialog(ticket)
    except NoMoney:
        return None


def sweep(stage: Stage, now: datetime, rng: random.Random) -> list[Dialog]:
    """Pair those who wait and missed each other, whoever came first; returns the new dialogs.

    Many are planned and begun at once; where a plan fails, a few look for a partner one by one.
    """
    if not Topic.objects.filter(stage=stage, taken__lt=F("wanted")).exists():
        return []
    planned = match_pairs(*_queue(stage, now))
    found: list[Dialog] = []
    for start in range(0, len(planned), AT_ONCE):
        found += _begin_planned(stage, planned[start : start + AT_ONCE], now, rng)
    begun = {ticket for row in found for ticket in (row.student_ticket_id, row.teacher_ticket_id)}
    left = [first.ticket for first, _ in planned if first.ticket not in begun]
    try:
        # Not always the same: who cannot be paired now must not keep others from it.
        for ticket_id in rng.sample(left, min(LOOKED_AT, len(left))):
            dialog = _begin_any(ticket_id, now, rng)
            found += [dialog] if dialog else []
    except NoMoney:
        pass
    return found


def open_dialog(ticket: Ticket) -> Dialog | None:
    """Return the dialog that the ticket is in now, None while it waits."""
    mine = "(student_ticket_id = %(ticket)s OR teacher_ticket_id = %(ticket)s)"
    found = OPEN.first(f"{mine} AND state <> 'over'", ticket=ticket.pk)
    return found[0] if found else None


def _begin_any(ticket_id: int, now: datetime, rng: random.Random) -> Dialog | None:
    """Return a dialog begun now where the ticket waits and a partner is free, else None.

    Locks the ticket's row and then that of a partner whom nobody else is looking at, so that two
    who arrive at once may miss each other: `sweep` finds them. With the tickets their workers
    are locked, as they are by whoever hands out work, so that nobody is shown a section in
    between. Raises NoMoney.
    """
    with transaction.atomic():
        mine = _lock(Ticket.objects.filter(pk=ticket_id)).get()
        can = mine.state == TicketState.WAITING and mine.lease.state == LeaseState.LIVE
        if not can or not is_present(mine, now, FRESH):
            return None
        stage = Stage.objects.select_related("collection").get(pk=mine.stage_id)
        for partner in _one_by_one(_partners(mine, now)):
            if dialogs := begin_dialogs(stage, [(mine, partner)], now, rng):
                return dialogs[0]
    return None


def _begin_planned(
    stage: Stage,
    planned: list[tuple[WaitingWorker, WaitingWorker]],
    now: datetime,
    rng: random.Random,
) -> list[Dialog]:
    """Begin the dialogs of those planned pairs whom nobody else is looking at or has paired."""
    people = [each.ticket for pair in planned for each in pair]
    try:
        with transaction.atomic():
            waiting = Ticket.objects.filter(pk__in=people, state=TicketState.WAITING)
            present = _lock(who_are_present(waiting, now).order_by("id"), skip=True)
            # Asked of the database, this would be looked up among all leases there ever were.
            locked = {each.pk: each for each in present if each.lease.state == LeaseState.LIVE}
            pairs = [
                (locked[one.ticket], locked[other.ticket])
                for one, other in planned
                if one.ticket in locked and other.ticket in locked
            ]
            return begin_dialogs(stage, pairs, now, rng)
    except NoMoney:
        return []


def _waiting(stage_id: int, now: datetime) -> QuerySet[Ticket]:
    """Return the tickets of those who can be paired."""
    waiting = Ticket.objects.filter(
        stage=stage_id, state=TicketState.WAITING, lease__state=LeaseState.LIVE
    )
    return who_are_present(waiting, now)


def _queue(stage: Stage, now: datetime) -> tuple[list[WaitingWorker], dict[str, set[str]]]:
    """Return those who wait, in the order in which they came, and whom they avoid."""
    waiting = _waiting(stage.pk, now).order_by("id")
    people = waiting.values_list("id", "worker_id", "can_ask", "can_teach")
    queue = [WaitingWorker(*row) for row in people]
    avoided: dict[str, set[str]] = {}
    complaints = PartnerReport.objects.filter(reporter__in={each.worker for each in queue})
    for one, other in complaints.values_list("reporter_id", "reported_id"):
        avoided.setdefault(one, set()).add(other)
        avoided.setdefault(other, set()).add(one)
    return queue, avoided


def _lock(tickets: QuerySet[Ticket], *, skip: bool = False) -> QuerySet[Ticket]:
    """Lock tickets with their workers; what others hold is waited for, or left out."""
    return tickets.select_related("worker", "lease").select_for_update(
        of=("self", "worker"), no_key=True, skip_locked=skip
    )


def _partners(mine: Ticket, now: datetime) -> QuerySet[Ticket]:
    """Return who could be the partner, whoever came first."""
    complaints = PartnerReport.objects.filter(
        Q(reporter=mine.worker_id) | Q(reported=mine.worker_id)
    )
    avoided = {mine.worker_id}
    for pair in complaints.values_list("reporter_id", "reported_id"):
        avoided.update(pair)
    roles = Q(can_teach=True) if not mine.can_teach else Q()
    roles &= Q(can_ask=True) if not mine.can_ask else Q()
    others = _waiting(mine.stage_id, now).exclude(worker__in=avoided)
    return others.filter(roles).order_by("id")


def _one_by_one(partners: QuerySet[Ticket]) -> Iterator[Ticket]:
    """Yield those whom nobody else is looking at, each locked before it is looked at."""
    last = 0
    for _ in range(LOOKED_AT):
        partner = _lock(partners.filter(pk__gt=last), skip=True).first()
        if partner is None:
            return
        last = partner.pk
        yield partner


TAKE_TOPICS = """
UPDATE tasks_topic SET taken = taken + given.column2, begun = begun + given.column2
FROM (VALUES {places}) AS given WHERE id = given.column1 RETURNING id
"""
TAKE_OUT = """
UPDATE tasks_ticket SET state = 'checking', ready = %s, waited_seconds = given.column2
FROM (VALUES {places}) AS given WHERE id = given.column1 RETURNING id
"""
Pair = tuple[Ticket, Ticket]


class NoMoney(Exception):
    """The budget cannot hold what all of them could earn."""


def begin_dialogs(
    stage: Stage, pairs: Sequence[Pair], now: datetime, rng: random.Random
) -> list[Dialog]:
    """Return the dialogs begun now; a pair for whom no free section is new is left out.

    Expects a transaction in which the tickets and their workers are locked. Locks sections that
    nobody else is just taking, so that none may be found although there is one; the collection's
    row comes last, since everybody who is paired needs it. Raises NoMoney: then roll back.
    """
    met = list(_with_topics(stage, pairs))
    if not met:
        return []
    parameters = parameters_of(stage.collection)
    held = longest_dialog_cents(dialog_table(stage), parameters)
    begun = []
    for pair, topic, ordinal in met:
        student, teacher = rng.choice([*_castings(*pair)])
        begun.append(
            Dialog(
                stage=stage,
                topic=topic,
                ordinal=ordinal,
                student_ticket=student,
                teacher_ticket=teacher,
                student_id=student.worker_id,
                teacher_id=teacher.worker_id,
                began_at=now,
                moved_at=now,
                reserved_cents=held,
            )
        )
    _change(TAKE_TOPICS, [*Counter(dialog.topic_id for dialog in begun).items()])
    insert(*begun)
    people = [ticket for pair, *_ in met for ticket in pair]
    for ticket in people:
        stop_clock(ticket, now)
    _change(TAKE_OUT, [(ticket.pk, ticket.waited_seconds) for ticket in people], False)
    shown = [
        {"worker_id": ticket.worker_id, "seed_id": topic.seed_id}
        for pair, topic, _ in met
        for ticket in pair
    ]
    insert_all(Exposure, {"kind": stage.kind, "at": now}, shown, unless="worker_id, seed_id, kind")
    if not budget.reserve(stage.collection_id, held * len(begun)):
        raise NoMoney
    return begun


def _with_topics(stage: Stage, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Topic, int]]:
    """Yield the pairs with the first free section that neither has seen, and how many had it."""
    workers = {ticket.worker_id for pair in pairs for ticket in pair}
    exposures = Exposure.objects.filter(worker__in=workers)
    free = Topic.objects.filter(stage=stage, taken__lt=F("wanted")).order_by("id")
    if len(pairs) == 1:
        free = free.exclude(seed__in=exposures.values("seed_id"))
    topics = list(free.select_for_update(no_key=True, skip_locked=True)[: len(pairs)])
    seen = set(
        exposures.filter(seed__in=[topic.seed_id for topic in topics]).values_list(
            "worker_id", "seed_id"
        )
        if len(pairs) > 1
        else ()
    )
    for pair in pairs:
        for topic in topics:
            if not any((ticket.worker_id, topic.seed_id) in seen for ticket in pair):
                yield pair, topic, topic.begun
                topic.taken, topic.begun = topic.taken + 1, topic.begun + 1
                if topic.taken == topic.wanted:
                    topics.remove(topic)
                break


def _castings(one: Ticket, other: Ticket) -> Iterator[Pair]:
    """Yield (student, teacher) for every way in which both qualify."""
    for student, teacher in ((one, other), (other, one)):
        if student.can_ask and teacher.can_teach:
            yield student, teacher


def _change(sql: str, pairs: Sequence[tuple[int, int]], *first: object) -> None:
    """Change many rows by one statement, each by its id and a number."""
    places = ", ".join(["(%s, %s)"] * len(pairs))
    execute(sql.format(places=places), [*first, *(value for pair in pairs for value in pair)])
