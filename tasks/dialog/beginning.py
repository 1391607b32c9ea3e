"""Begins dialogs of people whose tickets are locked: a section new to both, and the money held."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import F

from collector.models import Stage
from collector.protocols.creation import parameters_of
from common.prepared_sql import execute, insert, insert_all
from tasks.dialog.earnings import longest_dialog_cents
from tasks.dialog.waiting import stop_clock
from tasks.models import Dialog, Exposure, Ticket, Topic
from tasks.money import budget

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


def begin(stage: Stage, pairs: Sequence[Pair], now: datetime, rng: random.Random) -> list[Dialog]:
    """Return the dialogs begun now; a pair for whom no free section is new is left out.

    Expects a transaction in which the tickets and their workers are locked. Locks sections that
    nobody else is just taking, so that none may be found although there is one; the collection's
    row comes last, since everybody who is paired needs it. Raises NoMoney: then roll back.
    """
    met = list(_with_topics(stage, pairs))
    if not met:
        return []
    parameters = parameters_of(stage.collection)
    held = longest_dialog_cents(parameters.stages()[stage.name], parameters)
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
