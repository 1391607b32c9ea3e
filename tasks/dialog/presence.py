"""Who is there, as open sockets tell, and how long they have waited meanwhile."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from collector.models import Stage
from collector.protocols.stage_tables import DialogTable
from common.prepared_sql import execute, given_rows, locking
from tasks.dialog import moves
from tasks.dialog.dialog_state import dialog_table, state_of
from tasks.models import Dialog, DialogState, Exposure, LeaseState, Ticket, TicketState, Topic
from tasks.work.dialog_rules import Ending, Role

# Open sockets are noted several times within this; see `seen`.
SILENCE = timedelta(seconds=90)
# A section is given to people who are surely there: a process that died counts its sockets no more.
FRESH = timedelta(seconds=40)

CONNECT = """
UPDATE tasks_ticket SET seen_at = %(now)s,
    connections = CASE WHEN seen_at > %(silent_since)s THEN connections ELSE 0 END + 1
WHERE id = %(ticket)s AND state <> 'waiting' RETURNING connections
"""
# Who was let in before and is in a dialog needs no more than that: a lease goes on for one worker.
RETURN = """
UPDATE tasks_ticket SET seen_at = %(now)s,
    connections = CASE WHEN seen_at > %(silent_since)s THEN connections ELSE 0 END + 1
WHERE lease_id = %(lease)s AND worker_id = %(worker)s AND state IN ('checking', 'talking')
    AND EXISTS (SELECT 1 FROM tasks_lease WHERE id = %(lease)s AND state = 'live')
RETURNING id, connections
"""
DISCONNECT = """
UPDATE tasks_ticket SET connections = connections - 1,
    seen_at = CASE WHEN seen_at > %(at)s THEN seen_at ELSE %(at)s END
WHERE id = %(ticket)s AND connections > 0 RETURNING connections
"""
# One statement for however many: connections keep those that they have seen.
SEEN = f"""
WITH free AS MATERIALIZED (
    SELECT ticket.id FROM tasks_ticket ticket
    WHERE ticket.id IN ({given_rows("ticket bigint")}) {locking("ticket", skip=True)}
) UPDATE tasks_ticket SET seen_at = %(now)s,
    connections = CASE WHEN connections > 1 THEN connections ELSE 1 END
WHERE id IN (SELECT id FROM free) RETURNING id
"""


def is_present(ticket: Ticket, now: datetime, within: timedelta = SILENCE) -> bool:
    """Return whether a socket of the ticket's holder is open, as far as anybody has heard.

    One that nobody has heard of for long belonged to a process that died.
    """
    return bool(ticket.connections and ticket.seen_at and now - ticket.seen_at < within)


def who_are_present(tickets: QuerySet[Ticket], now: datetime) -> QuerySet[Ticket]:
    """Return those of the tickets whose holders have given a fresh sign that they are there."""
    return tickets.filter(connections__gt=0, seen_at__range=(now - FRESH, now + FRESH))


def connected(ticket_id: int, now: datetime) -> bool:
    """Count one more process with an open socket of the holder; returns whether they were away.

    The clock of a wait goes on.
    """
    found = execute(CONNECT, {"ticket": ticket_id, "now": now, "silent_since": now - SILENCE})
    if found:
        return bool(found[0][0] == 1)
    with transaction.atomic():
        ticket = Ticket.objects.select_for_update(no_key=True).get(pk=ticket_id)
        if not is_present(ticket, now):
            ticket.connections = 0
            if ticket.state == TicketState.WAITING:
                # The wait goes on from now, without the time in which its holder was away.
                left = max(ticket.seen_at or ticket.waiting_since, ticket.waiting_since)
                ticket.waited_seconds += int((left - ticket.waiting_since).total_seconds())
                ticket.waiting_since = now
        ticket.connections += 1
        ticket.seen_at = now
        ticket.save(update_fields=["connections", "seen_at", "waiting_since", "waited_seconds"])
    return ticket.connections == 1


def returned(lease_id: int, worker_id: str, now: datetime) -> tuple[int, bool] | None:
    """Count one more process with an open socket of somebody who is in a dialog.

    Returns their ticket and whether they were away; None for anybody else, who is counted nowhere.
    """
    values = {"lease": lease_id, "worker": worker_id, "now": now, "silent_since": now - SILENCE}
    found = execute(RETURN, values)
    return (found[0][0], found[0][1] == 1) if found else None


def seen(ticket_ids: list[int], now: datetime) -> None:
    """Note that the sockets of these tickets still answer the server's ping.

    A ticket that somebody else is writing is left to the next ping: one who waited for many of them
    could wait for one who waits for another of the same.
    """
    execute(SEEN, {"ticket": ticket_ids, "now": now})


def disconnected(ticket_id: int, at: datetime) -> int | None:
    """Count one process less whose last socket was closed then; returns how many are left.

    With the last, the time of grace begins; None where there was none any more.
    """
    found = execute(DISCONNECT, {"ticket": ticket_id, "at": at})
    return found[0][0] if found else None


def ready(dialog_id: int, ticket_id: int, now: datetime) -> bool:
    """Note that a partner says "I am here"; returns whether that began the dialog.

    Said of a dialog that has begun or is over, it changes nothing.
    """
    with transaction.atomic():
        dialog = (
            Dialog.objects.select_for_update(of=("self",), no_key=True)
            .filter(pk=dialog_id, state=DialogState.CHECKING)
            .first()
        )
        if dialog is None:
            return False
        Ticket.objects.filter(pk=ticket_id, state=TicketState.CHECKING).update(ready=True)
        both = Ticket.objects.filter(
            pk__in=[dialog.student_ticket_id, dialog.teacher_ticket_id], ready=True
        )
        if both.count() < 2:
            return False
        both.update(state=TicketState.TALKING)
        Dialog.objects.filter(pk=dialog.pk).update(state=DialogState.TALKING, moved_at=now)
    return True


def end_absent(stage: Stage, now: datetime) -> list[Dialog]:
    """End the dialogs of a stage that cannot go on and return them; they are to be settled.

    One whose partner has returned the HIT, is away, does not answer the check whether both are
    there, or does not move. A cut has its time of grace, a move its own, the check a short one.
    """
    table = dialog_table(stage)
    partners = ("student_ticket__lease", "teacher_ticket__lease")
    going = Dialog.objects.filter(stage=stage).exclude(state=DialogState.OVER)
    locking = Dialog.objects.select_for_update(of=("self",), no_key=True)
    ended = []
    for dialog in going.select_related(*partners):
        if _absent(dialog, table, now):
            with transaction.atomic():
                row = locking.select_related(*partners).get(pk=dialog.pk)
                # They may have come back, or made their move, since.
                role = _absent(row, table, now)
                if role:
                    ended.append(moves.end(row.pk, role, Ending.LEFT, now))
    return ended


def _absent(dialog: Dialog, table: DialogTable, now: datetime) -> Role | None:
    """Return who is to blame that the dialog cannot go on, None while it can or is over."""
    if dialog.state == DialogState.OVER:
        return None
    tickets = {Role.STUDENT: dialog.student_ticket, Role.TEACHER: dialog.teacher_ticket}
    for role, ticket in tickets.items():
        if ticket.lease.state != LeaseState.LIVE:
            return role
    grace = timedelta(seconds=table.grace_seconds)
    for role, ticket in tickets.items():
        # A socket that nobody has heard of for long belonged to a process that died.
        longest = max(grace, SILENCE) if ticket.connections else grace
        if ticket.seen_at is None or now - ticket.seen_at > longest:
            return role
    if dialog.state == DialogState.CHECKING:
        late = now - dialog.began_at > timedelta(seconds=table.ready_seconds)
        return next((role for role, ticket in tickets.items() if late and not ticket.ready), None)
    thinking = timedelta(minutes=table.move_minutes)
    return state_of(dialog).to_move if now - dialog.moved_at > thinking else None


def seconds_waited(ticket: Ticket, now: datetime) -> int:
    """Return the paid seconds of all the ticket's waits, also of the one that goes on."""
    return ticket.waited_seconds + _running(ticket, now)


def stop_clock(ticket: Ticket, now: datetime) -> None:
    """Add the wait that goes on to those that are over; changes the instance alone."""
    ticket.waited_seconds += _running(ticket, now)
    ticket.waiting_since = now


def waited_enough(stage: Stage, table: DialogTable, now: datetime) -> list[Ticket]:
    """Return the tickets that need not wait any longer.

    Those that have waited as long as anybody is asked to, have been away for longer than a move
    may take, have no time left for a dialog, or have nothing new to talk about.
    """
    waiting = Ticket.objects.filter(stage=stage, state=TicketState.WAITING)
    topics = Topic.objects.filter(stage=stage, taken__lt=F("wanted"))
    seen = Exposure.objects.filter(worker=OuterRef(OuterRef("worker")), seed=OuterRef("seed"))
    rows = waiting.select_related("lease").annotate(
        has_topics=Exists(topics.filter(~Q(Exists(seen))))
    )
    move = timedelta(minutes=table.move_minutes)
    longest = 60 * table.wait_minutes
    return [
        ticket
        for ticket in rows
        if seconds_waited(ticket, now) >= longest
        or now - _until(ticket, now) > move
        or ticket.lease.expires_at - now < move
        or not ticket.has_topics
    ]


def _running(ticket: Ticket, now: datetime) -> int:
    if ticket.state != TicketState.WAITING:
        return 0
    return max(0, int((_until(ticket, now) - ticket.waiting_since).total_seconds()))


def _until(ticket: Ticket, now: datetime) -> datetime:
    """Return until when the holder was there: the clock stands still while they are away."""
    return now if is_present(ticket, now) else ticket.seen_at or ticket.waiting_since
