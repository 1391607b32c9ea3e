"""Tests of the page of one worker."""

import pytest
from django.test import Client

from annotation.dashboard.tests.making import (
    make_answer,
    make_question,
    make_submission,
    plain,
    send,
)
from annotation.dashboard.tests.test_collections import queries
from annotation.decisions.verdicts import decide_collection
from annotation.models import Exclusion, Verdict
from collector.models import Collection
from common.tests.forms import hidden_in
from tasks.models import Payment, Submission, Worker
from tasks.people.erasure import forget
from tasks.tests.making import NOW, make_collection, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/workers/1/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection in which Worker 1 has written a question that others have answered."""
    collection = make_collection(slug="pilot")
    question = make_question(stage_of(collection, "question"))
    for _ in range(2):
        make_answer(question, stage_of(collection, "answer"))
    decide_collection(collection, NOW)
    return collection


def act(rita: Client, why: str, act: str = "out") -> str:
    """Return the page after a button was pressed."""
    reply = send(rita, PAGE, f"{PAGE}leave-out/", {"why": why, "act": act}, follow=True)
    return str(reply.content.decode())


def test_it_tells_what_they_made_and_leads_to_it(rita: Client, pilot: Collection) -> None:
    Submission.objects.filter(lease__worker__questions__isnull=False).update(state="rejected")
    page = rita.get(PAGE).content.decode()
    assert "1 question, 1 of them in the dataset · 0 answers · 1 HIT handed in" in plain(page)
    assert "1 rejected" in page
    session = Submission.objects.get(state="rejected").session
    assert f"/collections/pilot/money/work/{session.pk}/" in page
    assert session.person not in page
    for address in (f"money/work/{session.pk}/", "money/work/?show=rejected"):
        assert PAGE in rita.get(f"/collections/pilot/{address}").content.decode()


def test_of_who_has_withdrawn_nothing_is_in_the_dataset_and_nobody_names_them(
    rita: Client, pilot: Collection
) -> None:
    assert "Save the name" in rita.get(PAGE).content.decode()
    Submission.objects.update(state="approved")
    Payment.objects.update(state="confirmed")
    forget(Worker.objects.get(questions__isnull=False), NOW, withdraw=True)
    page = rita.get(PAGE).content.decode()
    assert "1 question, 0 of them in the dataset" in plain(page)
    assert "Save the name" not in page


def test_a_question_leads_to_who_wrote_and_who_answered_it(rita: Client, pilot: Collection) -> None:
    key = Verdict.objects.get().question.key
    page = rita.get(f"/collections/pilot/questions/{key}/").content.decode()
    for number in (1, 2, 3):
        assert f'href="/collections/pilot/workers/{number}/"' in page


def test_everything_is_left_out_and_comes_back_with_who_and_why(
    rita: Client, pilot: Collection
) -> None:
    page = act(rita, "All of it is <b>copied</b>.")
    assert "Excluded. Verdicts follow the votes that are left" in page
    assert "<b>owner</b> excluded everything" in page
    assert "&lt;b&gt;copied" in page
    assert Verdict.objects.get().outcome == "dropped"
    assert "excluded already" in act(rita, "Again.")
    assert pilot.blocks.get().worker == Verdict.objects.get().question.worker
    page = act(rita, "It was quoted.", "back")
    assert "their work counts again" in page
    assert "included it again" in page
    overview = rita.get("/collections/pilot/").content.decode()
    assert "owner excluded everything by Worker 1." in overview
    assert "owner included the work of Worker 1 again." in overview
    assert Verdict.objects.get().outcome == "kept"
    assert not pilot.blocks.exists()


def test_an_older_page_does_not_take_a_newer_exclusion_back(
    rita: Client, pilot: Collection
) -> None:
    act(rita, "Copied.")
    old = hidden_in(rita.get(PAGE).content.decode(), f"{PAGE}leave-out/")
    act(rita, "Quoted.", "back")
    act(rita, "Copied all the same.")
    form = old | {"why": "Quoted.", "act": "back"}
    page = rita.post(f"{PAGE}leave-out/", form, follow=True).content.decode()
    assert "changed since the page was shown" in page
    assert "Quoted.</textarea>" in page
    assert Exclusion.objects.filter(back_at=None).exists()


def test_without_a_reason_nothing_happens(rita: Client, pilot: Collection) -> None:
    assert "Say why" in act(rita, " ")
    assert "Nothing by this worker is excluded" in act(rita, "Why not.", "back")
    assert not Exclusion.objects.exists()
    assert "Why not.</textarea>" in act(rita, "Why not.", "back")


def test_nobody_has_that_number(rita: Client, pilot: Collection) -> None:
    for number in (0, 9, 99999999999999999999):
        assert rita.get(f"/collections/pilot/workers/{number}/").status_code == 404


def test_its_queries_do_not_follow_the_work(rita: Client, pilot: Collection) -> None:
    one = queries(lambda: rita.get(PAGE))
    worker = Verdict.objects.get().question.worker
    for _ in range(5):
        make_submission(stage_of(pilot, "question"), worker)
    assert queries(lambda: rita.get(PAGE)) == one
