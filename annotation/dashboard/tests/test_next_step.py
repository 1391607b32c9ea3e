"""Tests of the one thing that the page of a collection leads to."""

import re
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client

from annotation.dashboard.tests.making import (
    make_answer,
    make_lease,
    make_question,
    make_verdict,
    plain,
)
from annotation.dashboard.tests.test_releases import issue_into
from collector.models import Collection, CollectionState
from tasks.models import Question, Unit, UnitItem
from tasks.tests.making import make_collection, make_posting, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a published collection."""
    return make_collection(slug="pilot")


def step(rita: Client) -> str:
    """Return the part of the page that says what to do next."""
    page: str = rita.get(PAGE).content.decode()
    return page.split('aria-label="Next step"')[1].split("</section>")[0]


def finish_work(collection: Collection) -> None:
    """Keep one question, and leave no place of the main stages open."""
    question = make_question(stage_of(collection, "question"))
    answer = make_answer(question, stage_of(collection, "answer"))
    make_verdict(question, "kept", chosen=answer)
    collection.stages.exclude(name__endswith="qualification").update(state="closed")


def test_while_nobody_is_at_work_it_does_not_say_so(rita: Client, pilot: Collection) -> None:
    assert "No HIT is up." in plain(step(rita))
    make_posting(stage_of(pilot, "question"))
    assert "One HIT waits on the marketplace for workers to take." in plain(step(rita))


def test_people_at_work_are_counted(rita: Client, pilot: Collection) -> None:
    make_lease(stage_of(pilot, "question"), state="live")
    assert Unit.objects.filter(taken=1, submitted=0).count() == 1
    assert "One person is at work." in step(rita)


def test_with_all_work_in_it_leads_to_a_release_and_then_to_the_end(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    finish_work(pilot)
    assert "Make a release" in step(rita)
    issue_into(tmp_path, pilot)
    assert "Make a release" not in step(rita)
    assert f"{PAGE}finish/" in step(rita)
    Collection.objects.update(state=CollectionState.FINISHED)
    assert "Finished and released." in step(rita)


def test_a_test_without_places_leads_to_where_people_are_let_in(
    rita: Client, pilot: Collection
) -> None:
    letting_in = f'assignments left: <a href="{PAGE}people/">let people in</a>'
    assert letting_in not in rita.get(PAGE).content.decode()
    trial = Unit.objects.filter(stage__name="question_qualification")
    trial.update(taken=F("redundancy"), submitted=F("redundancy"))
    page = rita.get(PAGE).content.decode()
    assert page.count(letting_in) == 1


def test_questions_that_were_never_written_are_not_waited_for(
    rita: Client, pilot: Collection
) -> None:
    finish_work(pilot)
    # Fewer than could have been written, and none that a sample is drawn of.
    pilot.seeds.update(fold="train")
    answering = Unit.objects.get(stage__name="answer")
    UnitItem.objects.create(unit=answering, position=0, question=Question.objects.get())
    Unit.objects.update(closed=True)
    pilot.stages.update(state="open")
    assert "Make a release" in step(rita)
    main = rita.get(PAGE).content.decode().partition("<h3>Question<")[2]
    assert set(re.findall(r"<b>(\d+)</b> to come", main)) == {"0"}


def test_where_all_was_dropped_it_does_not_wait_for_more(rita: Client, pilot: Collection) -> None:
    question = make_question(stage_of(pilot, "question"))
    answer = make_answer(question, stage_of(pilot, "answer"))
    pilot.stages.exclude(name__endswith="qualification").update(state="closed")
    assert "All work is in, and is being decided on." in plain(step(rita))
    make_verdict(question, "dropped", n_votes=1, last_vote=answer.pk)
    assert "no question is kept" in plain(step(rita))
