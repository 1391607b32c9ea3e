"""Tests of inspecting qualification submissions."""

import pytest
from django.test import Client

from annotation.dashboard.tests.making import make_attempt, make_submission, send
from annotation.dashboard.tests.test_collections import queries
from collector.models import Collection
from tasks.models import Grant, GrantState, Qualification
from tasks.tests.making import make_collection, make_worker, stage_of

pytestmark = pytest.mark.django_db
QUESTIONS = "/collections/pilot/qualification/question_qualification/"
ANSWERS = "/collections/pilot/qualification/answer_qualification/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection at which nobody has tried yet."""
    return make_collection(slug="pilot")


def attempt(collection: Collection, stage: str = "question_qualification") -> Grant:
    """Return a submission that waits."""
    return make_attempt(stage_of(collection, stage))


def test_with_nobody_to_inspect_it_says_so(rita: Client, pilot: Collection) -> None:
    assert "Nobody has tried yet" in rita.get(QUESTIONS).content.decode()


def test_it_leads_to_the_stage_where_somebody_waits(rita: Client, pilot: Collection) -> None:
    path = "/collections/pilot/qualification/"
    assert rita.get(path)["Location"] == QUESTIONS
    attempt(pilot, "answer_qualification")
    assert rita.get(path)["Location"] == QUESTIONS or rita.get(path)["Location"] == ANSWERS
    Grant.objects.filter(qualification__stage__name="question_qualification").delete()
    assert rita.get(path)["Location"] == ANSWERS


def test_written_questions_are_shown_with_their_evidence_in_the_passage(
    rita: Client, pilot: Collection
) -> None:
    grant = attempt(pilot)
    page = rita.get(QUESTIONS).content.decode()
    question = grant.worker.questions.get()
    assert question.text in page
    assert f"{question.payload['context'][0]['text']}<sup>1</sup></mark>" in page
    assert question.payload["links"][0] in page
    assert grant.worker_id not in page


def test_answers_are_shown_with_question_passage_and_evidence(
    rita: Client, pilot: Collection
) -> None:
    grant = attempt(pilot, "answer_qualification")
    page = rita.get(ANSWERS).content.decode()
    answer = grant.worker.answers.get()
    assert answer.question.text in page
    assert "12 years" in page
    assert "Number" in page
    article = answer.payload["context"][1]["document"]
    assert f"<cite>{article}</cite>" in page
    assert "was founded in" in page


def test_granting_goes_on_to_the_next(rita: Client, pilot: Collection) -> None:
    first, second = attempt(pilot), attempt(pilot)
    page = rita.get(QUESTIONS).content.decode()
    assert "Worker 1" in page
    form = {"decision": "grant", "note": "Fine."}
    page = send(rita, f"{QUESTIONS}1/", f"{QUESTIONS}1/decide/", form, follow=True).content.decode()
    first.refresh_from_db()
    assert (first.state, first.note, first.decided_by) == (GrantState.GRANTED, "Fine.", "owner")
    assert "Worker 1 may now take the main task" in page
    assert second.worker.questions.get().text in page
    # Whoever is declined is paid as well: what is counted are not approvals.
    assert "<b>1</b> passed" in rita.get("/collections/pilot/").content.decode()


def test_a_decision_can_be_taken_back(rita: Client, pilot: Collection) -> None:
    grant = attempt(pilot)
    send(rita, f"{QUESTIONS}1/", f"{QUESTIONS}1/decide/", {"decision": "grant"})
    page = rita.get(f"{QUESTIONS}1/").content.decode()
    assert "You can decide again" in page
    send(
        rita, f"{QUESTIONS}1/", f"{QUESTIONS}1/decide/", {"decision": "decline", "note": "Copied."}
    )
    grant.refresh_from_db()
    assert (grant.state, grant.note) == (GrantState.DECLINED, "Copied.")
    assert "All inspected" in rita.get(QUESTIONS).content.decode()


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"decision": "decline", "note": " "}, "Say in the note why you decline"),
        ({"decision": "perhaps"}, "Choose Grant or Decline."),
        ({}, "Choose Grant or Decline."),
    ],
)
def test_a_decision_that_is_none_changes_nothing(
    rita: Client, pilot: Collection, form: dict[str, str], sentence: str
) -> None:
    grant = attempt(pilot)
    page = send(rita, f"{QUESTIONS}1/", f"{QUESTIONS}1/decide/", form, follow=True).content.decode()
    assert sentence in page
    grant.refresh_from_db()
    assert grant.state == GrantState.SUBMITTED


def test_nobody_is_found_by_a_number_that_nobody_has(rita: Client, pilot: Collection) -> None:
    attempt(pilot)
    assert rita.get(f"{QUESTIONS}9/").status_code == 404
    assert rita.post(f"{QUESTIONS}9/decide/").status_code == 404
    assert rita.get(f"{ANSWERS}1/").status_code == 404
    assert rita.get("/collections/pilot/qualification/question/").status_code == 404


def test_a_submission_too_late_to_count_is_said_to_be_so(rita: Client, pilot: Collection) -> None:
    stage = stage_of(pilot, "question_qualification")
    submission = make_submission(stage, make_worker())
    qualification, _ = Qualification.objects.get_or_create(stage=stage)
    Grant.objects.create(
        qualification=qualification,
        worker=submission.lease.worker,
        submitted_at=submission.received_at,
    )
    assert "came too late to be counted" in rita.get(QUESTIONS).content.decode()


@pytest.mark.parametrize("stage", ["question_qualification", "answer_qualification"])
def test_its_queries_do_not_follow_the_work(rita: Client, pilot: Collection, stage: str) -> None:
    row = stage_of(pilot, stage)
    path = f"/collections/pilot/qualification/{stage}/"
    make_attempt(row, items=1)
    one = queries(lambda: rita.get(path))
    row.qualification.grants.all().delete()
    for _ in range(4):
        make_attempt(row, items=5)
    assert queries(lambda: rita.get(path)) == one
