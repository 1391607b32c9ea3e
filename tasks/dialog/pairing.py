"""Brings two workers who wait together: claimed by one on arrival, or swept by the job."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from collector.models import Stage
from collector.protocols.creation import parameters_of
from common.prepared_sql import (
    JoinedQuery,
    Table,
    execute,
    given_rows,
    instance_of,
    locking,
)
from tasks.dialog.dialog_state import dialog_table
from tasks.dialog.presence import FRESH, seconds_waited, who_are_present
from tasks.dialog.settlement import longest_dialog_cents
from tasks.ledger import budget
from tasks.models import (
    Dialog,
    LeaseState,
    PartnerReport,
    Ticket,
    TicketState,
    Topic,
)

OPEN = JoinedQuery(
    Table(
        "dialog",
        Dialog,
        "id stage_id topic_id student_ticket_id teacher_ticket_id student_id teacher_id state",
    )
)
TICKET = "id worker_id state can_ask can_teach connections seen_at waiting_since waited_seconds"
TOPIC = "id seed_id wanted taken begun"
# A ticket is locked with its worker.
LEASE = "JOIN tasks_lease lease ON lease.id = ticket.lease_id"
WORKER = "JOIN tasks_worker worker ON worker.id = ticket.worker_id"
# As `who_are_present` asks of those who wait.
PRESENT = "ticket.state = 'waiting' AND ticket.connections > 0 AND ticket.seen_at > %(since)s"
# The same of tickets whose keys are known. Written so it opens no index of those who wait: to find
# one of them the planner would read all, when its statistics say that nobody waits.
IS_PRESENT = f"({PRESENT}) IS TRUE"
# The first of a stage's rows are found by an index of few: in the order of stage and key, which a
# stage that is only bounded leaves to it. By their keys alone, all that are done would be read.
OF_STAGE = "{0}.stage_id BETWEEN %(stage)s AND %(stage)s"
FIRST = "ORDER BY {0}.stage_id, {0}.id LIMIT"
OPEN_TOPIC = f"{OF_STAGE.format('topic')} AND topic.taken < topic.wanted"
FIRST_TOPIC = FIRST.format("topic")

# Those of many tickets that nobody else is looking at. Asked of the database, the state of their
# leases would be looked up among all that there ever were.
FREE = JoinedQuery(
    Table("ticket", Ticket, TICKET),
    plain=("lease.state",),
    joined=f"{LEASE} {WORKER}",
    lock="ticket, worker",
    skip=True,
)
AMONG = f"ticket.id IN ({given_rows('ticket bigint')}) AND {IS_PRESENT} ORDER BY ticket.id"
TOPICS = JoinedQuery(Table("topic", Topic, TOPIC), lock="topic", skip=True)
SEEN = f"""
WITH shown AS MATERIALIZED (
    SELECT worker_id, seed_id FROM tasks_exposure
    WHERE worker_id IN ({given_rows("worker varchar")})
) SELECT worker_id, seed_id FROM shown WHERE seed_id IN ({given_rows("seed bigint")})
"""

# Who looks for a partner, the first who could be the partner and whom nobody else is looking at,
# and the first free section that is new to both and that nobody else is just taking.
MEET = f"""
WITH mine AS (
    SELECT ticket.* FROM tasks_ticket ticket {LEASE} {WORKER}
    WHERE ticket.id = %(ticket)s AND {IS_PRESENT} AND lease.state = 'live'
    {locking("ticket, worker")}
), partner AS (
    SELECT ticket.* FROM tasks_ticket ticket {LEASE} {WORKER}
    WHERE EXISTS (SELECT 1 FROM mine) AND {OF_STAGE.format("ticket")} AND ticket.id > %(after)s
    AND {PRESENT} AND lease.state = 'live' AND ticket.worker_id <> %(worker)s
    AND (ticket.can_teach AND %(asks)s OR ticket.can_ask AND %(teaches)s) AND NOT EXISTS (
        SELECT 1 FROM tasks_partnerreport report
        WHERE report.reporter_id = %(worker)s AND report.reported_id = ticket.worker_id
        OR report.reported_id = %(worker)s AND report.reporter_id = ticket.worker_id
    ) {FIRST.format("ticket")} 1 {locking("ticket, worker", skip=True)}
), topic AS (
    SELECT topic.* FROM tasks_topic topic
    WHERE EXISTS (SELECT 1 FROM partner) AND {OPEN_TOPIC} AND NOT EXISTS (
        SELECT 1 FROM tasks_exposure seen WHERE seen.seed_id = topic.seed_id
        AND seen.worker_id IN (%(worker)s, (SELECT worker_id FROM partner))
    ) {FIRST_TOPIC} 1 {locking("topic", skip=True)}
)"""
MEETING = JoinedQuery(
    Table("mine", Ticket, TICKET, is_given=True),
    Table("partner", Ticket, TICKET, "TRUE", optional=True, is_given=True),
    Table("topic", Topic, TOPIC, "TRUE", optional=True, is_given=True),
    before=MEET,
)

# How many of those who have waited longest are looked at before one waits oneself.
LOOKED_AT = 20
# How many pairs are begun in one transaction.
AT_ONCE = 100


@dataclass(frozen=True)
class WaitingWorker:
    """Somebody who waits, and what they qualify for."""

    ticket: int
    worker: str
    can_ask: bool
    can_teach: bool

    @property
    def roles(self) -> tuple[bool, bool]:
        """Return whether they can ask and whether they can teach."""
        return self.can_ask, self.can_teach


# With whom somebody of these roles can talk.
PARTNERS = {
    (True, True): ((True, True), (True, False), (False, True)),
    (True, False): ((True, True), (False, True)),
    (False, True): ((True, True), (True, False)),
}


def match_pairs(
    queue: Iterable[WaitingWorker], avoided: Mapping[str, set[str]]
) -> list[tuple[WaitingWorker, WaitingWorker]]:
    """Return pairs of people who qualify for different roles, in the order in which they came.

    Nobody is in two pairs, with themselves, or with somebody whom they avoid. avoided: for every
    worker with whom they are not to talk again. Takes time in proportion to the queue.
    """
    # Dictionaries keep the order in which people came, and let go of anybody at once.
    free: dict[tuple[bool, bool], dict[int, WaitingWorker]] = {roles: {} for roles in PARTNERS}
    pairs = []
    for comer in queue:
        others = {comer.worker, *avoided.get(comer.worker, ())}
        first = min(
            (
                each
                for roles in PARTNERS[comer.roles]
                if (each := _first(free[roles].values(), others))
            ),
            key=lambda each: each.ticket,
            default=None,
        )
        if first is None:
            free[comer.roles][comer.ticket] = comer
        else:
            del free[first.roles][first.ticket]
            pairs.append((first, comer))
    return pairs


def _first(people: Iterable[WaitingWorker], avoided: set[str]) -> WaitingWorker | None:
    return next((each for each in people if each.worker not in avoided), None)


def claim(ticket: Ticket, now: datetime, rng: random.Random) -> Dialog | None:
    """Return the dialog that the ticket is in, begun now where a partner is free, else None."""
    me = WaitingWorker(ticket.pk, ticket.worker_id, ticket.can_ask, ticket.can_teach)
    try:
        return _begin_any(ticket.stage, me, now, rng) or open_dialog(ticket)
    except NotNow:
        return None


def sweep(stage: Stage, now: datetime, rng: random.Random) -> list[Dialog]:
    """Pair those who wait and missed each other; returns the new dialogs.

    Many are planned and begun at once; where a plan fails, a few look for a partner one by one.
    """
    if not Topic.objects.filter(stage=stage, taken__lt=F("wanted")).exists():
        return []
    planned = match_pairs(*_queue(stage, now))
    found: list[Dialog] = []
    for start in range(0, len(planned), AT_ONCE):
        found += _begin_planned(stage, planned[start : start + AT_ONCE], now, rng)
    begun = {ticket for row in found for ticket in (row.student_ticket_id, row.teacher_ticket_id)}
    left = [first for first, _ in planned if first.ticket not in begun]
    try:
        # Not always the same: who cannot be paired now must not keep others from it.
        for each in rng.sample(left, min(LOOKED_AT, len(left))):
            dialog = _begin_any(stage, each, now, rng)
            found += [dialog] if dialog else []
    except NotNow:
        pass
    return found


def open_dialog(ticket: Ticket) -> Dialog | None:
    """Return the dialog that the ticket is in now, None while it waits."""
    mine = "(student_ticket_id = %(ticket)s OR teacher_ticket_id = %(ticket)s)"
    found = OPEN.first(f"{mine} AND state <> 'over'", ticket=ticket.pk)
    return found[0] if found else None


def _begin_any(stage: Stage, me: WaitingWorker, now: datetime, rng: random.Random) -> Dialog | None:
    """Return a dialog begun now where the ticket waits and a partner is free, else None.

    Locks the ticket's row and then that of a partner whom nobody else is looking at, so that two
    who arrive at once may miss each other: `sweep` finds them. With the tickets their workers
    are locked, as they are where work is handed out, so that nobody is shown a section in
    between. Raises NotNow.
    """
    values: dict[str, Any] = {
        "ticket": me.ticket,
        "worker": me.worker,
        "asks": me.can_ask,
        "teaches": me.can_teach,
        "stage": stage.pk,
        "since": now - FRESH,
        "after": 0,
    }
    with transaction.atomic():
        for _ in range(LOOKED_AT):
            found = MEETING.first("TRUE", **values)
            if found is None or found[1] is None:
                return None
            mine, partner, topic = found
            if topic is not None:
                return begin_dialogs(stage, [((mine, partner), topic, topic.begun)], now, rng)[0]
            values["after"] = partner.pk
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
            free = FREE.all(AMONG, ticket=people, since=now - FRESH)
            locked = {each.pk: each for each, state in free if state == LeaseState.LIVE}
            pairs = [
                (locked[one.ticket], locked[other.ticket])
                for one, other in planned
                if one.ticket in locked and other.ticket in locked
            ]
            met = list(_with_topics(stage, pairs))
            return begin_dialogs(stage, met, now, rng) if met else []
    except NotNow:
        return []


def _queue(stage: Stage, now: datetime) -> tuple[list[WaitingWorker], dict[str, set[str]]]:
    """Return those who wait, in the order in which they came, and whom they avoid."""
    waiting = Ticket.objects.filter(
        stage=stage, state=TicketState.WAITING, lease__state=LeaseState.LIVE
    )
    present = who_are_present(waiting, now).order_by("id")
    people = present.values_list("id", "worker_id", "can_ask", "can_teach")
    queue = [WaitingWorker(*row) for row in people]
    avoided: dict[str, set[str]] = {}
    complaints = PartnerReport.objects.filter(reporter__in=present.values("worker"))
    for one, other in complaints.values_list("reporter_id", "reported_id"):
        avoided.setdefault(one, set()).add(other)
        avoided.setdefault(other, set()).add(one)
    return queue, avoided


Pair = tuple[Ticket, Ticket]
# Two who begin a dialog, about what, and how many have been begun about it.
Meeting = tuple[Pair, Topic, int]

# What begins the dialogs of those who have met: each is a statement about `pair`, one row for each
# dialog, and `person`, one for each who is in it.
PAIR = (
    *("topic bigint", "seed bigint", "ordinal int"),
    *("student_ticket bigint", "student varchar", "student_waited int"),
    *("teacher_ticket bigint", "teacher varchar", "teacher_waited int"),
)
PERSON = """person AS (
    SELECT student_ticket AS ticket, student AS worker, student_waited AS waited, seed FROM pair
    UNION ALL SELECT teacher_ticket, teacher, teacher_waited, seed FROM pair
)"""
WITH = f"WITH pair AS ({given_rows(*PAIR)}), {PERSON}"
TAKE_TOPICS = """
UPDATE tasks_topic SET taken = taken + many.n, begun = begun + many.n
FROM (SELECT topic, count(*) AS n FROM pair GROUP BY topic) many
WHERE tasks_topic.id = many.topic RETURNING tasks_topic.id
"""
TAKE_OUT = """
UPDATE tasks_ticket SET state = 'checking', ready = FALSE, waited_seconds = person.waited
FROM person WHERE tasks_ticket.id = person.ticket RETURNING tasks_ticket.id
"""
BEGIN = """
INSERT INTO tasks_dialog (stage_id, topic_id, ordinal, student_ticket_id, student_id,
    teacher_ticket_id, teacher_id, state, ending, ended_by, began_at, moved_at, reserved_cents,
    settled)
SELECT %(stage)s, topic, ordinal, student_ticket, student, teacher_ticket, teacher, 'checking',
    '', '', %(now)s, %(now)s, %(held)s, FALSE
FROM pair RETURNING student_ticket_id, id
"""
SHOW = """
INSERT INTO tasks_exposure (worker_id, seed_id, kind, at)
SELECT worker, seed, %(kind)s, %(now)s FROM person WHERE TRUE
ON CONFLICT (worker_id, seed_id, kind) DO NOTHING RETURNING id
"""
HOLD = f"{budget.RESERVE} RETURNING id"
# A section may have been looked for before the rows were locked: whether somebody was
# shown it meanwhile is seen only by a statement that begins later.
KNOWN = """
SELECT 1 FROM person
JOIN tasks_exposure seen ON seen.worker_id = person.worker AND seen.seed_id = person.seed
"""
# PostgreSQL does all of it in one statement.
BEGIN_AT_ONCE = f"""
{WITH}, taken AS ({TAKE_TOPICS}), out AS ({TAKE_OUT}), begun AS ({BEGIN}), shown AS ({SHOW}),
held AS ({HOLD})
SELECT begun.student_ticket_id, begun.id FROM begun JOIN held ON TRUE WHERE NOT EXISTS ({KNOWN})
"""
# What is known of a new dialog without reading it.
BEGUN = (
    "id stage_id topic_id ordinal student_ticket_id student_id teacher_ticket_id teacher_id"
    " reserved_cents"
).split()
IS_POSTGRESQL = connection.vendor == "postgresql"


class NotNow(Exception):
    """The budget cannot hold what all of them could earn, or one has just seen the section."""


def begin_dialogs(
    stage: Stage, met: Sequence[Meeting], now: datetime, rng: random.Random
) -> list[Dialog]:
    """Return the dialogs of those who have met, begun now, each about its section.

    Expects a transaction in which the tickets, their workers and the sections are locked. The
    collection's row comes last, since everybody who is paired needs it. Raises NotNow: then roll
    back.
    """
    parameters = parameters_of(stage.collection)
    held = longest_dialog_cents(dialog_table(stage), parameters)
    rows = [_row(pair, topic, ordinal, now, rng) for pair, topic, ordinal in met]
    values = {name: [row[name] for row in rows] for name in rows[0]}
    keys = _begin(stage, values, now, held)
    if len(keys) < len(rows):
        raise NotNow
    return [
        instance_of(
            Dialog,
            BEGUN,
            [
                *(keys[row["student_ticket"]], stage.pk, row["topic"], row["ordinal"]),
                *(row["student_ticket"], row["student"]),
                *(row["teacher_ticket"], row["teacher"], held),
            ],
        )
        for row in rows
    ]


def _begin(stage: Stage, pairs: dict[str, list[Any]], now: datetime, held: int) -> dict[int, int]:
    """Return the keys of new dialogs by their students' tickets; none where it cannot be.

    pairs: the columns of `pair`; held: cents for each dialog.
    """
    about = {"stage": stage.pk, "kind": stage.kind, "now": now, "held": held}
    money = {"collection": stage.collection_id, "cents": held * len(pairs["topic"])}
    values = pairs | about | money
    if IS_POSTGRESQL:
        return dict(execute(BEGIN_AT_ONCE, values))
    if execute(f"{WITH} {KNOWN}", values):
        return {}
    for statement in (TAKE_TOPICS, TAKE_OUT, SHOW):
        execute(f"{WITH} {statement}", values)
    begun = execute(f"{WITH} {BEGIN}", values)
    return dict(begun) if execute(HOLD, values) else {}


def _row(
    pair: Pair, topic: Topic, ordinal: int, now: datetime, rng: random.Random
) -> dict[str, Any]:
    """Return a row of `pair`; a coin decides where both qualify for both roles."""
    student, teacher = rng.choice([*_castings(*pair)])
    return {
        "topic": topic.pk,
        "seed": topic.seed_id,
        "ordinal": ordinal,
        "student_ticket": student.pk,
        "student": student.worker_id,
        "student_waited": seconds_waited(student, now),
        "teacher_ticket": teacher.pk,
        "teacher": teacher.worker_id,
        "teacher_waited": seconds_waited(teacher, now),
    }


def _with_topics(stage: Stage, pairs: Sequence[Pair]) -> Iterator[Meeting]:
    """Yield the pairs with the first free section that neither has seen, if there is one.

    Locks sections that nobody else is just taking, so that none may be found although there is one.
    """
    where = f"{OPEN_TOPIC} {FIRST_TOPIC} %(number)s"
    topics = [topic for (topic,) in TOPICS.all(where, stage=stage.pk, number=len(pairs))]
    workers = [ticket.worker_id for pair in pairs for ticket in pair]
    seen = set(execute(SEEN, {"worker": workers, "seed": [topic.seed_id for topic in topics]}))
    for one, other in pairs:
        for topic in topics:
            seed = topic.seed_id
            if (one.worker_id, seed) not in seen and (other.worker_id, seed) not in seen:
                yield (one, other), topic, topic.begun
                topic.taken, topic.begun = topic.taken + 1, topic.begun + 1
                if topic.taken == topic.wanted:
                    topics.remove(topic)
                break


def _castings(one: Ticket, other: Ticket) -> Iterator[Pair]:
    """Yield (student, teacher) for every way in which both qualify."""
    for student, teacher in ((one, other), (other, one)):
        if student.can_ask and teacher.can_teach:
            yield student, teacher
