"""Dialogs come out of the log as they went in, by the rules of live ones, or say why not."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from annotation.release.facts import Dates
from annotation.release.log import FilesLine, Log, LogError
from annotation.release.write_log import log_lines
from annotation.replay.read_log import read_log
from annotation.replay.recreation import OWN_MAINTENANCE, with_topics
from annotation.replay.rerun import ReplayedDialogs
from collector.models import Collection
from tasks.dialog import maintenance as dialog_maintenance
from tasks.dialog import moves, presence, settlement
from tasks.dialog.tests.making import make_dialogs, make_lease, make_talker, make_waiting
from tasks.dialog.tests.talking import SOON, ask, pair, talk
from tasks.lifecycle.maintenance import CLAIM
from tasks.models import Answer, Dialog, Exposure, Payment, Question, Ticket, Topic, Turn, Worker
from tasks.people import eligibility
from tasks.tests.making import NOW, stage_of
from tasks.work.dialog_rules import Ending, Role

pytestmark = pytest.mark.django_db
LATER = SOON + timedelta(minutes=5)
END = SOON + timedelta(minutes=8)
Lines = list[dict[str, Any]]
KINDS = ("ticket", "dialog", "move")
ENDLESS = {"ended": None, "ending": None, "ended_by": None}
REPLY = {"start": 0, "end": 6, "continuation": "follow_up", "affirmation": "yes"}


@pytest.fixture
def collection() -> Collection:
    """Return it after four dialogs, each of which has ended otherwise, and one that goes on."""
    collection = make_dialogs(5, dialog__min_pairs=2, dialog__max_questions=3)
    stage = stage_of(collection, "dialog")
    make_waiting(stage, "AADA", "student")
    first = pair(make_waiting(stage, "AGRACE"))
    talk(first, 3)
    settlement.settle(Dialog.objects.get(pk=first.pk), SOON)

    ida = make_waiting(stage, "AIDA", "teacher", now=SOON)
    left = begin(make_waiting(stage, "AMALLORY", "student", now=SOON), SOON)
    settle(moves.end(left.pk, Role.STUDENT, Ending.LEFT, LATER), LATER)

    presence.seen([ida.pk], LATER)
    reported = begin(make_waiting(stage, "AHEDY", "student", now=LATER), LATER)
    talk(reported, 1, LATER)
    ask(reported, LATER)
    Worker.objects.filter(pk=reported.student_id).update(synthetic=True)
    settle(moves.end(reported.pk, Role.STUDENT, Ending.REPORTED, END), END)

    waiting = Ticket.objects.filter(worker=reported.student)
    presence.seen([ticket.pk for ticket in waiting], END)
    ended = begin(make_waiting(stage, "AJON", "teacher", now=END), END)
    talk(ended, 2, END)
    settle(moves.end(ended.pk, Role.STUDENT, Ending.ENDED, END), END)

    make_waiting(stage, "ARUTH", "student", now=END)
    talk(begin(make_waiting(stage, "AEDITH", "teacher", now=END), END), 1, END)
    return collection


def begin(ticket: Ticket, now: Any) -> Dialog:
    """Return the dialog of somebody for whom a partner waits; both have said they are there."""
    return pair(ticket, now)


def settle(dialog: Dialog, now: Any) -> None:
    """Settle a dialog that is over."""
    assert settlement.settle(dialog, now)


def written(collection: Collection, path: Path, change: Callable[[Lines], Any] = list) -> Path:
    """Return the collection's log, its lines as `change` leaves them."""
    lines = [*log_lines(collection, Dates(NOW.date(), None, None)), FilesLine(files={}).as_line()]
    told = [json.loads(line) for line in lines]
    change(told)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in told))
    return path


def again(log: Log, collection: Collection) -> Collection:
    """Return another collection, over the same texts, in which others hold the log's dialogs."""
    own = {"dialog__min_pairs": 2, "dialog__max_questions": 3, "corpus": collection.corpus}
    made = make_dialogs(slug="again", **own)
    stage = stage_of(made, "dialog")
    dialogs = ReplayedDialogs(log)
    for place, one in log.events():
        if place == one.taken:
            worker = make_talker(made, f"A{place}", *log.tickets[place].roles)
            lease = make_lease(stage, worker)
            dialogs.join(one.model_copy(update={"worker": worker.pk}), lease)
    for one in log.assignments:
        assert not dialogs.has_more(one)
        dialogs.leave(one)
    return made


def said(collection: Collection) -> Lines:
    """Return all questions with their answers, and what was exchanged for them."""
    questions = Question.objects.filter(stage__collection=collection).order_by("key")
    return [
        {
            **{name: getattr(one, name) for name in ("key", "text", "payload", "created_at")},
            "synthetic": one.synthetic,
            "answers": list(
                Answer.objects.filter(question=one).values("type", "payload", "created_at")
            ),
        }
        for one in questions
    ]


def owed(collection: Collection) -> list[tuple[str, int]]:
    """Return what was owed for turns and waits."""
    rows = Payment.objects.filter(collection=collection).values_list("key", "amount_cents")
    return sorted((key.partition(":")[0], cents) for key, cents in rows)


def held(collection: Collection) -> list[tuple[Any, ...]]:
    """Return the dialogs that are over, as they went."""
    rows = Dialog.objects.filter(stage__collection=collection, settled=True).order_by("id")
    return [
        (
            *(row.topic.seed.key, row.ordinal, row.began_at, row.ended_at),
            *(row.ending, row.ended_by),
            list(Turn.objects.filter(dialog=row).values_list("question", "asked_at", "start")),
        )
        for row in rows
    ]


def test_they_are_held_again_as_they_were(collection: Collection, tmp_path: Path) -> None:
    log = read_log(written(collection, tmp_path / "log.jsonl"))
    endings = ["all_asked", "left", "reported", "ended", None]
    assert [line.ending for line in log.dialogs] == endings
    assert [len(log.moves.get(line.dialog, [])) for line in log.dialogs] == [6, 0, 3, 4, 0]
    assert sum(line.waited_seconds for line in log.tickets.values()) > 0
    made = again(log, collection)
    assert held(made)[:4] == held(collection)
    assert {one[-2] for one in held(collection)} == {"", "student"}
    assert said(made) == said(collection)
    assert [one["synthetic"] for one in said(made)].count(True) == 3
    assert owed(made) == owed(collection)
    assert {what for what, _ in owed(made)} == {"turns", "wait"}
    seen = Exposure.objects.values_list("worker", "seed__key").order_by("seed__key")
    both = [seen.filter(seed__collection=each) for each in (collection, made)]
    assert [key for _, key in both[0]] == [key for _, key in both[1]]
    # Of the one that went on, nothing is told and nothing kept.
    assert Dialog.objects.get(stage__collection=collection, settled=False).turns.count() == 1
    assert held(made)[4][-1] == []
    assert not Ticket.objects.filter(stage__collection=made).exclude(state="done").exists()


def test_the_log_of_what_was_held_again_is_the_same(collection: Collection, tmp_path: Path) -> None:
    first = written(collection, tmp_path / "log.jsonl")
    made = again(read_log(first), collection)
    second = written(made, tmp_path / "again.jsonl")
    told = [
        [line for line in map(json.loads, path.read_text().splitlines()) if line["is"] in KINDS]
        for path in (first, second)
    ]
    # The one that went on has an end there.
    assert told[0][-1]["ending"] is None
    assert told[0][:-1] == told[1][:-1]


def change(kind: str, number: int, **values: Any) -> Callable[[Lines], Any]:
    """Return what gives one line of this kind, counted from 0, other values."""
    return lambda lines: [line for line in lines if line["is"] == kind][number].update(values)


def without(kind: str, number: int) -> Callable[[Lines], Any]:
    """Return what leaves one line of this kind out."""
    return lambda lines: lines.remove([line for line in lines if line["is"] == kind][number])


def with_oneself(lines: Lines) -> None:
    """Let all assignments be one person's."""
    for line in lines:
        if line["is"] == "assignment":
            line["worker"] = "ada"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (change("move", 0, dialog=9), "it has a move of an unknown dialog, 9."),
        (change("move", 0, role="judge"), r"line \d+ \(role\) is none of a log"),
        (without("move", 0), "the move 1 of the dialog 1 is not in its order: it was the student"),
        (change("move", 1, answer=None), "the move 2 of the dialog 1 is none that a teacher makes"),
        (change("move", 0, question=None), "the move 1 of the dialog 1 is none that a student"),
        (change("dialog", 3, **ENDLESS), "the move 1 of the dialog 4 is told, but no end of it."),
        (without("dialog", 1), "the dialog 2 is missing, or not in its order."),
        (change("dialog", 0, seed="s"), "the dialog 1 is about no seed of its stage."),
        (change("dialog", 0, student=99), "the student of the dialog 1 took no assignment to talk"),
        (without("ticket", 1), "the teacher of the dialog 1 took no assignment to talk."),
        (change("ticket", 0, roles=["teacher"]), "the student of the dialog 1 had not qualified"),
        (change("ticket", 0, assignment=99), "it has a ticket of no assignment, taken at place 99"),
        (with_oneself, "one person held the dialog 1 with themselves."),
        (change("assignment", 0, handed_in=1), "the dialog 1 is not in its order: one of both"),
        (change("dialog", 3, ended_by=None), "the dialog 4 does not tell how, by whom and when"),
        (change("dialog", 0, ended=None), "the dialog 1 does not tell how, by whom and when"),
        (change("dialog", 0, ending="bored"), r"line \d+ \(ending\) is none of a log"),
    ],
)
def test_what_cannot_have_been_is_refused_in_one_line(
    changed: Callable[[Lines], Any], sentence: str, collection: Collection, tmp_path: Path
) -> None:
    path = written(collection, tmp_path / "log.jsonl", changed)
    with pytest.raises(LogError, match=rf"log\.jsonl: {sentence}") as refused:
        read_log(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            change("move", 1, answer={**REPLY, "start": 1}),
            "The dialog 1 of the log is refused now: Mark whole words",
        ),
        (
            change("move", 1, answer={**REPLY, "start": None, "end": None, "affirmation": "?"}),
            "The dialog 1 of the log is refused now: Choose yes, no or neither",
        ),
        (
            change("dialog", 0, ending="unanswerable"),
            "The dialog 1 of the log has not ended as before",
        ),
        (
            change("dialog", 1, student=1),
            "The dialog 2 of the log is refused now: One of both does not wait for it",
        ),
    ],
)
def test_what_the_rules_refuse_is_not_held(
    changed: Callable[[Lines], Any], sentence: str, collection: Collection, tmp_path: Path
) -> None:
    log = read_log(written(collection, tmp_path / "log.jsonl", changed))
    with pytest.raises(LogError, match=sentence):
        again(log, collection)
    of = Dialog.objects.filter(stage__collection__slug="again")
    assert of.count() == int(sentence[11]) - 1
    assert not of.filter(settled=False).exists()


def test_nobody_else_pairs_or_ends_what_a_replay_holds(collection: Collection) -> None:
    stage = stage_of(collection, "dialog")
    assert dialog_maintenance.stages_to_maintain() == [stage]
    held = Collection.objects.filter(pk=collection.pk)
    # A round of maintenance is no replay.
    held.update(maintained_until=timezone.now() + CLAIM)
    assert dialog_maintenance.stages_to_maintain() == [stage]
    held.update(maintained_until=timezone.now() + OWN_MAINTENANCE)
    assert dialog_maintenance.stages_to_maintain() == []
    held.update(maintained_until=timezone.now() + timedelta(days=365))
    assert dialog_maintenance.stages_to_maintain() == [stage]


def test_a_last_free_section_is_there_for_whoever_came_for_it(collection: Collection) -> None:
    topics = Topic.objects.filter(stage__collection=collection)
    topics.update(taken=F("wanted"))
    worker = make_talker(collection, "AELLA")
    stage = stage_of(collection, "dialog")
    assert not eligibility.has_work(worker, stage)
    with with_topics(stage):
        assert eligibility.has_work(worker, stage)
    assert not topics.exclude(taken=F("wanted")).exists()
