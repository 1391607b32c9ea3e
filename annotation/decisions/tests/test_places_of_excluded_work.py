"""Nobody is asked about the questions of people whose work does not count."""

import pytest
from django.db.models import F

from annotation.dashboard.collections import progress
from annotation.dashboard.tests.making import make_question
from annotation.decisions.by_hand import exclude_worker, include_again
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import FOLDS
from tasks import hits
from tasks.costs import estimate
from tasks.lifecycle import maintenance
from tasks.models import (
    Grant,
    LeaseState,
    Payment,
    Qualification,
    Question,
    Submission,
    Unit,
    UnitItem,
)
from tasks.people import erasure
from tasks.tests.deciding import make_fake_marketplace
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
)
from tasks.work import leases, units

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    """Return a collection that is collecting; an answer HIT has two questions."""
    return make_collection()


@pytest.fixture
def mallory() -> object:
    return make_worker("AMALLORY")


def ask(collection: Collection, *writers: object) -> list[Question]:
    """Return a question by each of the writers, in their order."""
    stage = stage_of(collection, "question")
    return [make_question(stage, worker=writer) for writer in writers]


def look(collection: Collection) -> None:
    """Do what a round does about the units of the answer stage."""
    parameters = parameters_of(collection)
    units.drop_left_out(collection, parameters)
    units.bundle(stage_of(collection, "answer"), parameters)


def offered(collection: Collection) -> list[list[int]]:
    """Return the questions of each unit that has a place, by their ids."""
    rows = Unit.objects.filter(stage__name="answer", stage__collection=collection, closed=False)
    return [list(unit.items.values_list("question", flat=True)) for unit in rows]


def take_answers(collection: Collection, person: str = "AADA") -> object:
    stage = stage_of(collection, "answer")
    return leases.claim(make_session(make_worker(person), make_posting(stage)), stage, NOW)


def test_questions_of_an_excluded_writer_are_given_to_nobody(collection, mallory) -> None:
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    asked = ask(collection, ada, mallory, grace, mallory)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    look(collection)
    assert offered(collection) == [[asked[0].pk, asked[2].pk]]


def test_questions_of_a_writer_who_withdrew_are_given_to_nobody(collection, mallory) -> None:
    ask(collection, mallory, mallory)
    Submission.objects.update(state="approved")
    Payment.objects.update(state="confirmed")
    erasure.forget(mallory, NOW, withdraw=True)
    look(collection)
    assert offered(collection) == []


def test_places_that_were_open_already_go_when_their_writer_is_excluded(
    collection, mallory
) -> None:
    ask(collection, mallory, mallory)
    look(collection)
    stage = stage_of(collection, "answer")
    assert hits.places_left(stage) > 0
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    look(collection)
    assert hits.places_left(stage) == 0
    assert take_answers(collection) is None


def test_a_round_drops_the_places_about_a_writer_who_was_excluded(
    collection, mallory, monkeypatch
) -> None:
    make_fake_marketplace(monkeypatch)
    ask(collection, mallory, mallory)
    maintenance.maintain(collection, NOW)
    stage = stage_of(collection, "answer")
    assert hits.places_left(stage) > 0
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    maintenance.maintain(collection, NOW)
    assert hits.places_left(stage) == 0


def test_questions_that_shared_a_hit_with_excluded_ones_get_a_whole_one(
    collection, mallory
) -> None:
    asked = ask(collection, make_worker("AADA"), mallory)
    look(collection)
    assert offered(collection) == [[asked[0].pk, asked[1].pk]]
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    look(collection)
    assert offered(collection) == [], "it waits for a second question"
    asked += ask(collection, make_worker("AGRACE"))
    look(collection)
    assert offered(collection) == [[asked[0].pk, asked[2].pk]]


def test_who_is_at_an_excluded_writers_questions_hands_in_and_nobody_comes_after(
    collection, mallory
) -> None:
    ask(collection, mallory, mallory)
    look(collection)
    Unit.objects.filter(stage__name="answer").update(redundancy=2)
    lease = take_answers(collection)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    look(collection)
    assert leases.submit(lease, NOW)
    assert take_answers(collection, "AIDA") is None


def test_places_of_a_closed_unit_are_not_counted_as_still_to_come(mallory) -> None:
    collection = make_collection(seeds=2, answer__redundancy=dict.fromkeys(FOLDS, 2))
    ask(collection, mallory, mallory)
    look(collection)
    assert leases.submit(take_answers(collection), NOW)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    ask(collection, make_worker("AGRACE"), make_worker("AIDA"))
    look(collection)
    for person in ("ABEN", "AEDITH"):
        assert leases.submit(take_answers(collection, person), NOW)
    Unit.objects.filter(stage__name="answer").update(submitted=F("taken"))
    rows = progress.stages_of(collection, parameters_of(collection), estimate(collection))
    [row] = [row for row in rows if row.stage.name == "answer"]
    assert (row.submitted, row.planned) == (3, 3)
    assert progress.places_by_stage([collection])[collection.pk, "answer"] == (3, 3)


def test_a_hit_that_was_begun_goes_on_for_its_other_questions(collection, mallory) -> None:
    asked = ask(collection, make_worker("AADA"), mallory)
    look(collection)
    leases.end(take_answers(collection, "AIDA"), LeaseState.RETURNED, NOW)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    look(collection)
    assert offered(collection) == [[asked[0].pk, asked[1].pk]]


def test_what_was_taken_from_an_excluded_writer_is_asked_when_they_are_included_again(
    collection, mallory
) -> None:
    asked = ask(collection, *[mallory] * 4)
    look(collection)
    before = offered(collection)
    assert len(before) == 2
    leases.end(take_answers(collection), LeaseState.RETURNED, NOW)
    made = exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    look(collection)
    assert offered(collection) == []
    include_again(made, "They were quotations.", "rita", NOW)
    look(collection)
    assert offered(collection) == before
    assert UnitItem.objects.filter(question__in=asked).count() == 4


def test_an_exam_on_an_excluded_writers_questions_gives_way_to_another_writers(
    collection, mallory
) -> None:
    source, exam = (
        stage_of(collection, f"{name}_qualification") for name in ("question", "answer")
    )
    writers = [mallory, make_worker("AADA"), make_worker("AGRACE")]
    for writer in writers:
        make_question(source, source.seeds.first(), writer)
        qualification, _ = Qualification.objects.get_or_create(stage=source)
        Grant.objects.create(
            qualification=qualification, worker=writer, state="granted", submitted_at=NOW
        )
    parameters = parameters_of(collection)
    assert units.bundle(exam, parameters) == units.EXAMINATION_UNITS
    session = make_session(make_worker("AIDA"), make_posting(exam))
    leases.end(leases.claim(session, exam, NOW), LeaseState.RETURNED, NOW)
    exclude_worker(collection, mallory, "Copied.", "rita", NOW)
    units.drop_left_out(collection, parameters)
    units.bundle(exam, parameters)
    items = UnitItem.objects.filter(unit__stage=exam, unit__closed=False)
    assert set(items.values_list("question__worker", flat=True)) == {one.pk for one in writers[1:]}


def test_a_round_in_which_everybody_counts_asks_once(collection, django_assert_num_queries) -> None:
    ask(collection, make_worker("AADA"))
    parameters = parameters_of(collection)
    with django_assert_num_queries(1):
        assert units.drop_left_out(collection, parameters) == 0
