"""What a crowd may take, and what the jobs still owe it."""

import pytest

from collector.models import Collection
from tasks.models import Grant, GrantState, PostingState, Qualification
from tasks.simulation import crowd
from tasks.tests.making import (
    NOW,
    make_collection,
    make_corpus,
    make_posting,
    make_worker,
    stage_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot() -> Collection:
    """An open collection."""
    return make_collection()


def test_any_hit_of_a_type_will_do_where_all_are_ours(pilot: Collection) -> None:
    make_posting(stage_of(pilot, "question"))
    assert crowd.hit_types(pilot) == {"T1": "question"}
    assert crowd.available_hits(pilot, ["T1"]) == {"T1": []}


def test_hits_are_named_where_another_collection_shares_their_type(pilot: Collection) -> None:
    mine = make_posting(stage_of(pilot, "question"))
    other = make_collection(make_corpus(slug="other"), slug="other")
    theirs = make_posting(stage_of(other, "question"))
    assert crowd.available_hits(pilot, ["T1"]) == {"T1": [mine.external_id]}
    assert crowd.is_ours(pilot, mine.external_id)
    assert not crowd.is_ours(pilot, theirs.external_id)


def test_a_shared_type_without_a_free_hit_is_left_out(pilot: Collection) -> None:
    other = make_collection(make_corpus(slug="other"), slug="other")
    make_posting(stage_of(other, "question"))
    assert crowd.available_hits(pilot, ["T1"]) == {}


def test_one_stage_can_be_chosen(pilot: Collection) -> None:
    make_posting(stage_of(pilot, "question"))
    assert crowd.hit_types(pilot, "answer") == {}
    assert crowd.hit_types(pilot, "question") == {"T1": "question"}


def test_what_waits_for_the_jobs_is_said(pilot: Collection) -> None:
    assert crowd.unfinished_jobs(pilot) == ""
    posting = make_posting(stage_of(pilot, "question"))
    posting.state = PostingState.PUBLISHING
    posting.save()
    qualification = Qualification.objects.create(stage=stage_of(pilot, "question_qualification"))
    Grant.objects.create(
        qualification=qualification,
        worker=make_worker(),
        state=GrantState.GRANTED,
        submitted_at=NOW,
    )
    assert crowd.unfinished_jobs(pilot) == "1 HITs to publish, 1 decisions to tell"


def test_places_left_are_counted_by_stage(pilot: Collection) -> None:
    left = crowd.places_left(pilot)
    assert left["question"] == 2
    assert not crowd.all_is_done(pilot)
