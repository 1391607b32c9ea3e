"""Sixteen claimants from four processes want the last slot, or the last cent: one wins."""

from uuid import NAMESPACE_URL, uuid5

import pytest

from annotation.release.write_log import assignments
from tasks.models import Grant
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
    write_keys,
)
from tasks.work import leases
from tests.processes import soon, together

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "marketplace"])
PROCESSES = 4
EACH = 4


def test_one_of_sixteen_gets_the_last_slot(tmp_path, settings):
    write_keys(tmp_path, settings)
    stage = stage_of(make_collection(seeds=2), "question")
    sessions = [
        make_session(make_worker(f"A{number}"), make_posting(stage)).pk
        for number in range(PROCESSES * EACH)
    ]
    groups = [sessions[start::PROCESSES] for start in range(PROCESSES)]
    start = soon()
    won = together("tests.racing", "claim_slots", [[keys, stage.pk, start] for keys in groups])
    assert sum(won) == 1
    unit = stage.units.get()
    assert (unit.taken, unit.leases.count()) == (1, 1)


def test_one_of_sixteen_gets_the_last_cent(tmp_path, settings):
    write_keys(tmp_path, settings)
    collection = make_collection()
    collection.budget_cents = 500
    collection.save()
    start = soon()
    won = together("tests.racing", "reserve_money", [[collection.pk, 400, EACH, start]] * PROCESSES)
    assert sum(won) == 1
    collection.refresh_from_db()
    assert collection.reserved_cents == 400


def test_equal_questions_are_numbered_as_the_log_has_them():
    people = PROCESSES * EACH
    wide = {"train": people, "dev": people, "test": people}
    stage = stage_of(
        make_collection(seeds=2, question_qualification__redundancy=wide), "question_qualification"
    )
    posting = make_posting(stage, 100, 100 * people)
    leases_ = [
        leases.claim(make_session(make_worker(f"A{number}"), posting), stage, NOW).pk
        for number in range(people)
    ]
    texts = ["Who was first?", "Who was last?"]
    start = soon()
    groups = [leases_[first::PROCESSES] for first in range(PROCESSES)]
    arguments = [[keys, texts, start] for keys in groups]
    assert sum(together("tests.racing", "hand_in_alike", arguments)) == people
    told = sorted(assignments(stage.collection), key=lambda one: one.handed_in or 0)
    for text in texts:
        keys = [one.submission.questions.get(text=text).key for one in told]
        seed = stage.units.get().items.get().the_seed().key
        assert keys == [
            uuid5(NAMESPACE_URL, f"{stage.name}\n{seed}\n{text}\n{number}").hex
            for number in range(people)
        ]


def test_who_is_let_in_by_all_at_once_is_let_in_once():
    collection = make_collection()
    people = [f"A{number}" for number in range(4)]
    start = soon()
    won = together("tests.racing", "let_people_in", [[collection.pk, people, start]] * PROCESSES)
    assert sum(won) == len(people)
    grants = Grant.objects.values_list("worker__identity__person", "state", "submitted_at")
    assert sorted(grants) == [(person, "granted", None) for person in people]
