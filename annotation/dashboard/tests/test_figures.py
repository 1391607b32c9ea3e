"""Every figure about questions is what a count by hand gives, in states that are awkward."""

import json
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import make_answer, make_lease, make_question
from annotation.decisions.by_hand import exclude_worker, override_verdict
from annotation.decisions.verdicts import decide_collection
from annotation.release.publish_release import publish_release
from annotation.splits.assignment import make_splits
from collector.models import Collection, Seed, StageState
from tasks.models import LeaseState, Question, Session, Worker
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db
AGREED = [("value", "12"), ("value", "12"), ("value", "12")]
TWO_AGREE = [("value", "12"), ("value", "12"), ("value", "13")]
NONE_AGREE = [("value", "12"), ("value", "13"), ("value", "14")]
ALL_BAD = [("bad", ""), ("bad", ""), ("bad", "")]
TAB = re.compile(r"([A-Z][a-z ]+) <span>(\d+)</span>")


def ask(collection: Collection, votes: list[tuple[str, str]]) -> Question:
    """Return a question of the development fold, which three answer, with these votes."""
    seed = Seed.objects.filter(collection=collection, fold="dev").first()
    question = make_question(stage_of(collection, "question"), seed)
    for type_, value in votes:
        make_answer(question, stage_of(collection, "answer"), type_, value=value, unit="years")
    return question


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection with one question in each state, and what its writer left of two."""
    made = make_collection(slug="pilot")
    made.seeds.exclude(fold="").update(fold="dev")
    ask(made, AGREED)
    ask(made, TWO_AGREE)
    ask(made, NONE_AGREE)
    ask(made, ALL_BAD)
    ask(made, NONE_AGREE[:2])
    ask(made, [])
    by_hand, excluded = ask(made, NONE_AGREE), ask(made, NONE_AGREE)
    withdrawn = [ask(made, votes) for votes in (AGREED, NONE_AGREE, NONE_AGREE[:2], [])]
    now = timezone.now()
    decide_collection(made, now)
    override_verdict(by_hand.verdict, "dropped", None, "Dull.", "rita", now)
    exclude_worker(made, excluded.worker, "Copied.", "rita", now)
    late = ask(made, [])
    Question.objects.filter(pk=late.pk).update(worker=excluded.worker)
    for question in withdrawn:
        Worker.objects.filter(pk=question.worker_id).update(withdrawn_at=now)
    decide_collection(made, now)
    return made


def read(rita: Client, address: str) -> str:
    """Return the words of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", rita.get(address).content.decode()).split())


def test_the_tabs_of_the_questions_count_what_they_list(rita: Client, pilot: Collection) -> None:
    page = rita.get("/collections/pilot/questions/").content.decode()
    assert {words: int(number) for words, number in TAB.findall(page)} == {
        "All": 9,
        "In the dataset": 2,
        "Excluded": 4,
        "Waiting for answers": 1,
        "Votes differ": 3,
        "To adjudicate": 2,
        "Not answered yet": 1,
        "Overridden by a reviewer": 1,
        "To decide again": 0,
    }
    for name, number in (("disagreement", 3), ("adjudication", 2), ("none", 1), ("kept", 2)):
        listed = rita.get(f"/collections/pilot/questions/?outcome={name}").content.decode()
        assert listed.count('href="/collections/pilot/questions/') >= number
        shown = {key for key in Question.objects.values_list("key", flat=True) if key in listed}
        assert len(shown) == number


def test_what_is_said_to_be_released_is_released(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    page = read(rita, "/collections/pilot/releases/")
    assert "2 questions would be released now; 1 still waits for answers" in page
    make_splits(pilot, timezone.now())
    made = publish_release(pilot, tmp_path / "out", timezone.now())
    assert sum(made.release.counts["questions"].values()) == 2
    overview = read(rita, "/collections/pilot/")
    assert "In the dataset 2" in overview
    assert "Excluded 4" in overview
    assert "2 questions excluded by the votes" in overview
    assert "2 questions excluded by their votes" in read(rita, "/collections/")


def test_the_command_and_the_end_count_alike(rita: Client, pilot: Collection) -> None:
    said = StringIO()
    call_command("validate_answers", "pilot", json=True, stdout=said)
    outcomes = [
        (row["outcome"], row["questions"]) for row in json.loads(said.getvalue())["outcomes"]
    ]
    assert sum(number for outcome, number in outcomes if outcome == "kept") == 2
    assert sum(number for _, number in outcomes) == 7
    page = read(rita, "/collections/pilot/finish/")
    assert "2 questions without enough answers" in page


def test_work_is_not_in_while_people_work_on_a_stage_that_was_closed(
    rita: Client, pilot: Collection
) -> None:
    for _ in range(3):
        make_lease(stage_of(pilot, "answer"), state="live")
    pilot.stages.update(state=StageState.CLOSED)
    page = read(rita, "/collections/pilot/")
    assert "All work is in" not in page
    assert "3 people are at work." in page


def test_cut_off_work_is_no_payment_that_is_late_while_it_can_still_be_handed_in(
    rita: Client, pilot: Collection
) -> None:
    now = timezone.now()
    for minutes in (40, -20, -50):
        lease = make_lease(
            stage_of(pilot, "answer"),
            state=LeaseState.EXPIRED,
            draft={},
            closed_at=now + timedelta(minutes=minutes) - timedelta(hours=1),
        )
        until = now + timedelta(minutes=minutes)
        Session.objects.filter(pk=lease.session_id).update(signed_until=until)
    assert "2 payments for cut-off work not made yet" in read(rita, "/collections/pilot/")
    assert "2 payments for cut-off work due" in read(rita, "/collections/")
