"""Prepares what the pairing benchmark asks for: people who wait, and many who are done."""

import json
import os
import random
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from collector.models import Seed, Stage
from collector.protocols.creation import parameters_of
from deploy.benchmarks.stored import FIRST, copy_rows
from tasks.models import (
    Dialog,
    Lease,
    LeaseState,
    Posting,
    Session,
    Ticket,
    TicketState,
    Topic,
    Unit,
    Worker,
)
from tests.rehearsals.many_leases import put_leases

NOBODY = {"dialog__requires_student": "", "dialog__requires_teacher": ""}
AT_ONCE = 5000


def prepare(folder: str, pairs: int) -> None:
    """Make a stage with sections for so many pairs, three of each at most; writes stage.json."""
    from tasks.dialog.tests.making import make_dialogs
    from tasks.tests.making import make_posting, stage_of

    stage = stage_of(make_dialogs(1, budget_cents=2 * 10**9, **NOBODY), "dialog")
    topic = Topic.objects.select_related("seed").get(stage=stage)
    numbers, own = (0, pairs // 2 + 1), f"{FIRST} + n"
    copy_rows(Seed, topic.seed, numbers, key="'topic' || n", position=own)
    copy_rows(Topic, topic, numbers, seed_id=own, wanted="1 + mod(n, 3)")
    posting = make_posting(stage, 30, 30)
    (Path(folder) / "stage.json").write_text(json.dumps([stage.pk, posting.pk]))


def put(stage_id: int, posting_id: int, number: int) -> None:
    """Let so many people more wait."""
    stage, posting = Stage.objects.get(pk=stage_id), Posting.objects.get(pk=posting_id)
    ours = Unit.objects.filter(stage=stage, position__lt=FIRST - 1)
    first = (ours.aggregate(last=Max("position"))["last"] or 0) + 1
    for start in range(first, first + number, AT_ONCE):
        _put(
            stage, posting, range(start, min(first + number, start + AT_ONCE)), TicketState.WAITING
        )
    _analyse()


def put_done(stage_id: int, posting_id: int, start: int, end: int) -> None:
    """Let there be `end` people who are done where there were `start`; copies of a single one."""
    stage, posting = Stage.objects.get(pk=stage_id), Posting.objects.get(pk=posting_id)
    if not start:
        _put(stage, posting, range(FIRST - 1, FIRST), TicketState.DONE)
    ticket = Ticket.objects.filter(state=TicketState.DONE).earliest("pk")
    lease, numbers, own, name = ticket.lease, (start, end), f"{FIRST} + n", "'done' || n"
    copy_rows(Worker, ticket.worker, numbers, id=name)
    copy_rows(Unit, lease.unit, numbers, position=own)
    copy_rows(Session, lease.session, numbers, person=name, worker_id=name, session_id=name)
    copy_rows(Lease, lease, numbers, unit_id=own, session_id=own, worker_id=name)
    copy_rows(Ticket, ticket, numbers, lease_id=own, worker_id=name)
    _analyse()


def _analyse() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _put(stage: Stage, posting: Posting, positions: range, state: TicketState) -> None:
    done, now = state == TicketState.DONE, timezone.now()
    leases = put_leases(
        stage, posting, positions, LeaseState.SUBMITTED if done else LeaseState.LIVE
    )
    Ticket.objects.bulk_create(
        Ticket(
            lease=lease,
            stage=stage,
            worker_id=lease.worker_id,
            can_ask=True,
            can_teach=True,
            state=state,
            waiting_since=now,
            seen_at=now + timedelta(hours=1),
            connections=0 if done else 1,
        )
        for lease in leases
    )


def pair(stage_id: int, how: str, clients: int, start: float) -> None:
    """Pair whoever waits, from so many threads at once; prints how long it took and how many."""
    threads = [
        threading.Thread(target=_client, args=[stage_id, how, number, start])
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps([time.time(), Dialog.objects.count()]))


def _client(stage_id: int, how: str, number: int, start: float) -> None:
    from tasks.dialog import pairing

    stage = Stage.objects.select_related("collection").get(pk=stage_id)
    # Whoever lets people in, or sweeps them up, has read this with the first page.
    parameters_of(stage.collection)
    rng = random.Random(number)
    tickets = _arriving(stage, number) if how == "claim" else []
    if time.time() > start:
        print("The machine is too busy: the clients were not ready in time.", file=sys.stderr)
        # Ends the other threads, too: what they did in part would be taken for a rate.
        os._exit(1)
    time.sleep(start - time.time())
    if how == "sweep":
        while pairing.sweep(stage, timezone.now(), rng):
            pass
    for ticket in tickets:
        pairing.claim(ticket, timezone.now(), rng)
    connection.close()


def _arriving(stage: Stage, number: int) -> list[Ticket]:
    """Return every n-th of those who come now; as many wait for them already."""
    process, threads = (int(word) for word in sys.argv[1:3])
    waiting = Ticket.objects.filter(stage=stage.pk, state=TicketState.WAITING).order_by("id")
    keys = waiting.values_list("pk", flat=True)[waiting.count() // 2 :]
    coming = list(waiting.filter(pk__in=keys[process + number :: threads]))
    for ticket in coming:
        ticket.stage = stage
    return coming


def mistakes() -> list[int]:
    """Return how many are in two dialogs, and how many talk with themselves."""
    pairs = list(Dialog.objects.values_list("student_ticket_id", "teacher_ticket_id"))
    people = [ticket for both in pairs for ticket in both]
    return [len(people) - len(set(people)), sum(one == other for one, other in pairs)]
