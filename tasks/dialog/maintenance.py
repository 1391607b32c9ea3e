"""One look at everybody who waits or talks: each step finds what is to be done in rows."""

import logging
import random
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from collector.models import Stage
from collector.models.collection import LONGEST_CLAIM
from collector.protocols.creation import is_readable
from tasks.dialog import pairing, presence, settlement, waiting_room
from tasks.dialog.dialog_state import dialog_table
from tasks.dialog.hub import notify
from tasks.models import Dialog, Ticket, TicketState

log = logging.getLogger(__name__)
# A round of maintenance holds its collection for seconds; a replay holds it for minutes, and pairs
# and ends as its log tells.
HELD = timedelta(minutes=1)


def stages_to_maintain() -> list[Stage]:
    """Return the stages where anybody waits or talks, but for those of a replay; one query.

    Those of a protocol that this process does not know are left to one that does.
    """
    open_tickets = Ticket.objects.exclude(state=TicketState.DONE)
    stages = Stage.objects.filter(pk__in=open_tickets.values("stage_id"))
    now = timezone.now()
    held = Q(collection__maintained_until__range=(now + HELD, now + 2 * LONGEST_CLAIM))
    found = stages.exclude(held).select_related("collection")
    return [stage for stage in found if is_readable(stage.collection)]


def maintain_dialogs(stage: Stage, now: datetime, rng: random.Random) -> dict[str, int]:
    """Run every step once and return how many people each concerned; they are told to look.

    Two rounds at once do no harm: every step locks the rows it changes and reads them again.
    """
    steps: dict[str, Callable[[], Iterable[int]]] = {
        "returned": lambda: waiting_room.end_departed(stage, now),
        "absent": lambda: _of(presence.end_absent(stage, now)),
        "settled": lambda: _of(settlement.settle_all(stage, now)),
        "paired": lambda: _of(pairing.sweep(stage, now, rng)),
        "waited enough": lambda: _end_waits(stage, now),
    }
    done = {}
    for name, step in steps.items():
        try:
            concerned = list(step())
        except Exception:
            # One row that a step cannot digest must not keep others waiting.
            log.exception("%s: %s failed", stage, name)
            concerned = []
        if concerned:
            notify(concerned)
        done[name] = len(concerned)
    return done


def _of(dialogs: Iterable[Dialog]) -> list[int]:
    return [
        ticket
        for dialog in dialogs
        for ticket in (dialog.student_ticket_id, dialog.teacher_ticket_id)
    ]


def _end_waits(stage: Stage, now: datetime) -> list[int]:
    table = dialog_table(stage)
    over = presence.waited_enough(stage, table, now)
    return [ticket.pk for ticket in over if settlement.finish(ticket, now)]
