"""What hands decided is done again in the order of time, and all that a release reads is told."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.decisions.by_hand import (
    correct,
    exclude_worker,
    follow_votes,
    include_again,
    override_verdict,
)
from annotation.decisions.verdicts import decide_collection
from annotation.models import Exclusion, Override, Verdict
from annotation.protocols.hotpotqa.tests.pairs import pairs
from annotation.protocols.iirc.tests.island import island
from annotation.release.facts import dates_of
from annotation.release.log import KINDS, FilesLine, Log
from annotation.release.publish_release import publish_release
from annotation.release.write_log import log_lines
from annotation.replay.read_log import read_log
from annotation.replay.remake_release import decide_again
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW
from collector.models import Collection, CollectionState, StageState
from tasks.lifecycle.publication import close_stage, finish, reopen
from tasks.models import Answer, Lease, Unit, UnitItem, Worker, WorkerBlock
from tasks.tests.making import stage_of

pytestmark = pytest.mark.django_db
ALONE, TWO = (
    "How many people live on the island of the harbour?",
    "When was the keeper of the light born?",
)
Steps = dict[str, Callable[[datetime], Any]]


@pytest.fixture
def collection() -> Collection:
    """Return a collection as its votes have it."""
    made = island()
    for lease in Lease.objects.select_related("submission"):
        question = lease.submission.answers.get().question
        UnitItem.objects.create(unit=lease.unit, position=0, question=question)
    Verdict.objects.all().delete()
    decide_collection(made, NOW)
    return made


def acts(collection: Collection) -> Steps:
    """Return what a hand can do with the question of one vote and that of three, by a name."""

    def verdict(text: str) -> Verdict:
        return Verdict.objects.get(question__text=text)

    def vote(text: str, worker: str) -> Answer:
        return Answer.objects.get(question__text=text, worker=worker, corrected_by="")

    def keep(text: str, worker: str) -> Callable[[datetime], Any]:
        return lambda at: override_verdict(
            verdict(text), "kept", vote(text, worker), "Right.", "rita", at
        )

    def out(worker: str) -> Callable[[datetime], Any]:
        return lambda at: exclude_worker(
            collection, Worker.objects.get(pk=worker), "Copied.", "rita", at
        )

    def back(worker: str) -> Callable[[datetime], Any]:
        return lambda at: include_again(
            Exclusion.objects.get(worker=worker, back_at=None), "It was not.", "rita", at
        )

    return {
        "keep grace's alone": keep(ALONE, "grace"),
        "keep mallory's": keep(TWO, "mallory"),
        "keep hedy's": keep(TWO, "hedy"),
        "drop": lambda at: override_verdict(verdict(TWO), "dropped", None, "Dull.", "rita", at),
        "correct": lambda at: correct(
            verdict(TWO), vote(TWO, "hedy"), "value", {"value": "7"}, "Counted.", "rita", at
        ),
        "follow": lambda at: follow_votes(verdict(TWO), "After all.", "rita", at),
        "grace out": out("grace"),
        "grace back": back("grace"),
        "mallory out": out("mallory"),
        "mallory back": back("mallory"),
        "hedy out": out("hedy"),
        "finish": lambda at: finish(collection, "Enough.", "rita", at),
        "reopen": lambda at: reopen(collection, "Not enough.", "rita", at),
    }


def believed(collection: Collection) -> list[tuple[Any, ...]]:
    """Return what is believed of every question, and who is left out."""
    rows = Verdict.objects.filter(question__stage__collection=collection)
    told = [
        (
            *(row.question.text, row.outcome, row.reason, row.sentence, row.overridden),
            *(row.n_votes, sorted(row.agreeing), row.chosen and row.chosen.payload),
        )
        for row in rows.order_by("question__text")
    ]
    left_out = Exclusion.objects.filter(collection=collection, back_at=None).order_by("worker")
    collection.refresh_from_db()
    return [*told, (collection.state, *left_out.values_list("worker", "why"))]


def forget(collection: Collection) -> None:
    """Leave the collection as its votes have it, as a replay does before hands decide."""
    Exclusion.objects.all().delete()
    WorkerBlock.objects.all().delete()
    Override.objects.all().delete()
    Verdict.objects.all().delete()
    Answer.objects.exclude(corrected_by="").delete()
    collection.state = CollectionState.PAUSED
    collection.save()
    decide_collection(collection, NOW)


@pytest.mark.parametrize(
    "names",
    [
        # These made the whole log useless.
        ["keep grace's alone", "grace out"],
        ["keep mallory's", "follow", "mallory out"],
        # These were decided otherwise again.
        ["keep hedy's", "keep mallory's", "mallory out"],
        ["drop", "keep mallory's", "mallory out"],
        ["mallory out", "mallory back", "keep mallory's"],
        ["keep mallory's", "mallory out", "mallory back"],
        ["keep mallory's", "mallory out", "keep hedy's", "mallory back"],
        ["keep mallory's", "mallory out", "drop", "mallory back", "follow"],
        ["keep mallory's", "mallory out", "mallory back", "mallory out"],
        ["grace out", "correct", "grace back", "hedy out"],
        ["grace out", "keep hedy's", "hedy out", "grace back"],
        ["finish", "keep mallory's", "mallory out"],
        ["finish", "mallory out", "reopen"],
    ],
    ids=", ".join,
)
def test_hands_decide_again_in_the_order_of_time(
    collection: Collection, tmp_path: Path, names: list[str]
) -> None:
    Collection.objects.filter(pk=collection.pk).update(state=CollectionState.PAUSED)
    steps = acts(collection)
    for hour, name in enumerate(names):
        steps[name](NOW + timedelta(hours=hour))
    decide_collection(collection, NOW)
    before = believed(collection)
    log = written(collection, tmp_path)
    assert len(log.acts) == len(names)
    forget(collection)
    decide_again(collection, log, NOW)
    assert believed(collection) == before


def written(collection: Collection, folder: Path) -> Log:
    """Return the collection's log as it is read from a file."""
    path = folder / "log.jsonl"
    lines = [*log_lines(collection, dates_of(collection, NOW)), FilesLine(files={}).as_line()]
    path.write_bytes(b"".join(lines))
    return read_log(path)


def test_what_a_closed_stage_leaves_missing_is_waited_for_no_more_in_a_replay(
    collection: Collection, tmp_path: Path
) -> None:
    collection.parameters["answer"]["redundancy"] |= {"percent": 50, "people": 3}
    collection.save()
    collection.stages.update(state=StageState.OPEN)
    Unit.objects.filter(items__question__text=ALONE).update(redundancy=3, submitted=1)
    forget(collection)
    assert Verdict.objects.get(question__text=ALONE).outcome == "waiting"
    close_stage(stage_of(collection, "answer"))
    decide_collection(collection, NOW)
    before = believed(collection)
    assert Verdict.objects.get(question__text=ALONE).outcome == "kept"
    log = written(collection, tmp_path)
    collection.stages.update(state=StageState.OPEN)
    forget(collection)
    decide_again(collection, log, NOW)
    assert believed(collection) == before


def read_by_a_release(collection: Collection, folder: Path) -> set[str]:
    """Return the names of the models whose rows a release of the collection reads."""
    with CaptureQueriesContext(
        connection,
    ) as caught:
        publish_release(collection, folder, NOW)
    asked = [one["sql"] for one in caught if one["sql"].startswith("SELECT")]
    tables = {name for sql in asked for name in re.findall(r'(?:FROM|JOIN) "(\w+)"', sql)}
    return {model.__name__ for model in apps.get_models() if model._meta.db_table in tables}


# What a log tells of each model, by the kind of its lines; or what it is made from again.
TOLD = {
    "Answer": "assignment, made up, override, labels",
    "Collection": "collection, state",
    "CollectionRevision": "revision",
    "CollectionText": "text",
    "CrossValidation": "judged",
    "Exclusion": "exclusion, inclusion",
    "Grant": "decision",
    "Lease": "assignment",
    "LeaseEvent": "assignment",
    "Payment": "assignment",
    "Posting": "assignment",
    "Question": "assignment, move",
    "ReaderHint": "assignment",
    "Seed": "seed",
    "Session": "assignment",
    "Skip": "assignment",
    "Stage": "closed",
    "Statement": "statement",
    "Submission": "assignment",
    "Unit": "unit",
    "UnitItem": "unit",
    "Verdict": "override, agreeing",
    "Worker": "assignment",
}
MADE_AGAIN = {
    **dict.fromkeys(["Article", "Book", "Corpus", "Document", "Paragraph", "Section"], "corpus"),
    **dict.fromkeys(["Qualification", "SeedParagraph"], "what the protocol says"),
    **dict.fromkeys(["Context", "SplitAssignment"], "splits and contexts are drawn by the seed"),
    **dict.fromkeys(["OfficialArticle", "OfficialFile"], "nobody works on published files"),
    "Release": "the first one's date is in the line of the collection",
    "ToldQuestion": "a replay makes the first release of a collection",
}


def test_the_log_tells_of_every_model_that_a_release_reads(
    collection: Collection, tmp_path: Path
) -> None:
    make_splits(collection, NOW)
    check_told(collection, tmp_path / "out")


def test_the_log_tells_of_every_model_that_a_release_of_pairs_reads(tmp_path: Path) -> None:
    check_told(pairs(), tmp_path / "out")


def check_told(collection: Collection, folder: Path) -> None:
    """Check that a release reads no model of which a log holds nothing."""
    assert read_by_a_release(collection, folder) <= TOLD.keys() | MADE_AGAIN.keys()
    assert {kind for kinds in TOLD.values() for kind in kinds.split(", ")} <= KINDS.keys()
