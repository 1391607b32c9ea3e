"""The dialogs of a replay: begun, held and settled by the rules of live ones, without sockets."""

import random
from collections import Counter, deque
from collections.abc import Iterable
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.release.log import AssignmentLine, DialogLine, Log, LogError, MoveLine
from collector.models import Stage
from tasks.dialog import moves, pairing, presence, settlement, waiting_room
from tasks.dialog.dialog_state import view_of
from tasks.dialog.moves import Move
from tasks.models import Dialog, Lease, Ticket, TicketState, Topic, Worker
from tasks.work.dialog_rules import Ending, Refused, Role


class ReplayedDialogs:
    """Holds the dialogs of a log in their order, each as soon as both partners have come."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._to_come = deque(log.dialogs)
        self._n_left = Counter(place for line in log.dialogs for place in _places(line))
        self._came: dict[int, tuple[AssignmentLine, Ticket]] = {}

    def join(self, one: AssignmentLine, lease: Lease) -> list[int]:
        """Let somebody into the waiting room who came to it, and hold what can be held now.

        Returns the places at which the assignments were taken that this has concerned. Raises
        LogError where a rule refuses what the log tells.
        """
        if one.taken in self._log.tickets:
            self._came[one.taken] = one, self._arrived(one, lease)
        concerned = [one.taken]
        while self._to_come and all(place in self._came for place in _places(self._to_come[0])):
            line = self._to_come.popleft()
            self._hold(line)
            self._n_left.subtract(_places(line))
            concerned += _places(line)
        return concerned

    def has_more(self, one: AssignmentLine) -> bool:
        """Return whether there are further dialogs of the assignment."""
        return self._n_left[one.taken] > 0

    def leave(self, one: AssignmentLine) -> None:
        """End the wait of whoever came to a waiting room; owes it."""
        if one.taken in self._came:
            _, ticket = self._came[one.taken]
            settlement.finish(ticket, timezone.now())

    def _arrived(self, one: AssignmentLine, lease: Lease) -> Ticket:
        """Return the ticket of an assignment; raises LogError for somebody who is not let in."""
        try:
            ticket = waiting_room.arrive(lease, timezone.now())
        except waiting_room.NoRoom as error:
            raise LogError(
                f"Who took the assignment at place {one.taken} of the log is not let in: {error}"
            ) from None
        # How long somebody waited is measured, not made: a replay takes it over.
        ticket.waited_seconds = self._log.tickets[one.taken].waited_seconds
        ticket.save(update_fields=["waited_seconds"])
        return ticket

    def _hold(self, line: DialogLine) -> None:
        """Hold a dialog from its beginning to what becomes of it, or nothing of it."""
        try:
            with transaction.atomic():
                dialog = self._begun(line)
                for place, move in enumerate(self._log.moves.get(line.dialog, ()), start=1):
                    _make(dialog, move, place)
                _end(dialog, line)
                self._mark_synthetic(_places(line))
                settlement.settle(dialog, timezone.now())
        except (Refused, pairing.NotNow, IntegrityError) as error:
            raise LogError(f"The dialog {line.dialog} of the log is refused now: {error}") from None

    def _begun(self, line: DialogLine) -> Dialog:
        """Return the dialog, begun by the two as who they were, both there."""
        student, teacher = (_locked(self._came[place][1]) for place in _places(line))
        if any(ticket.state != TicketState.WAITING for ticket in (student, teacher)):
            raise Refused("One of both does not wait for it.")
        topics = Topic.objects.select_for_update(of=("self",), no_key=True)
        topic = topics.get(stage_id=student.stage_id, seed__key=line.seed)
        # Who both could have been is no matter of chance any more.
        student.can_teach = teacher.can_ask = False
        stage = Stage.objects.select_related("collection").get(pk=student.stage_id)
        met = [((student, teacher), topic, topic.begun)]
        (dialog,) = pairing.begin_dialogs(stage, met, line.began, random.Random(line.dialog))
        for ticket in (student, teacher):
            presence.ready(dialog.pk, ticket.pk, line.began)
        return Dialog.objects.get(pk=dialog.pk)

    def _mark_synthetic(self, places: Iterable[int]) -> None:
        """Have what was said marked as it was, which follows from who said it."""
        for place in places:
            one, _ = self._came[place]
            Worker.objects.filter(pk=one.worker).update(synthetic=one.synthetic)


def _places(line: DialogLine) -> tuple[int, int]:
    return line.student, line.teacher


def _locked(ticket: Ticket) -> Ticket:
    """Return a ticket as it stands now, locked with its worker as in any pairing."""
    rows = Ticket.objects.select_for_update(of=("self", "worker"), no_key=True)
    return rows.select_related("worker").get(pk=ticket.pk)


def _make(dialog: Dialog, move: MoveLine, place: int) -> None:
    """Make a move at its time; place: in the dialog, from 1. Raises Refused."""
    is_asked = move.role is Role.STUDENT
    ticket = dialog.student_ticket_id if is_asked else dialog.teacher_ticket_id
    said = move.question if is_asked else move.answer
    assert said is not None
    moves.make_now(view_of(ticket), Move(dialog.pk, UUID(int=place), said), move.at)


def _end(dialog: Dialog, line: DialogLine) -> None:
    """End a dialog as it ended; raises LogError where it has ended otherwise by now.

    One that went on when the log was written ends with nothing said in it.
    """
    if line.ending is None:
        moves.end(dialog.pk, Role.STUDENT, Ending.LEFT, line.began)
        return
    if line.ended_by and line.ended:
        moves.end(dialog.pk, line.ended_by, line.ending, line.ended)
    row = Dialog.objects.get(pk=dialog.pk)
    if (row.ending, row.ended_by) != (line.ending, line.ended_by or ""):
        raise LogError(f"The dialog {line.dialog} of the log has not ended as before.")
