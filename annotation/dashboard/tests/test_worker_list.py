"""Tests of the table of a collection's workers, and of the names that requesters give."""

import csv
import io
from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests.making import (
    make_answer,
    make_lines,
    make_question,
    make_submission,
    make_verdict,
    plain,
)
from annotation.dashboard.tests.test_collections import queries
from annotation.decisions.by_hand import exclude_worker
from annotation.decisions.verdicts import decide_collection
from collector.models import Collection
from common.actions import ActionError
from tasks.crowd import groups
from tasks.models import GivenName, Question, Submission, Worker
from tasks.people.erasure import forget
from tasks.people.trusted import name_worker
from tasks.tests.making import NOW, make_collection, make_worker, stage_of

pytestmark = pytest.mark.django_db
LIST = "/collections/pilot/workers/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection where Ada has written three questions, and two others answer each."""
    collection = make_collection(slug="pilot")
    ada = make_worker("ADA")
    written = make_submission(stage_of(collection, "question"), ada, minutes=10)
    for _ in range(3):
        question = make_question(stage_of(collection, "question"), submission=written)
        for _ in range(2):
            make_answer(question, stage_of(collection, "answer"))
    decide_collection(collection, NOW)
    return collection


def rows(rita: Client, query: str = "") -> list[dict[str, str]]:
    """Return the list as CSV."""
    reply = rita.get(f"{LIST}?{query}&as=csv")
    assert reply["Content-Disposition"] == 'attachment; filename="pilot-workers.csv"'
    return list(csv.DictReader(io.StringIO(reply.content.decode())))


def test_everybody_is_in_one_table_with_work_shares_time_and_pay(
    rita: Client, pilot: Collection
) -> None:
    make_submission(stage_of(pilot, "question"), Worker.objects.get(questions__position=0))
    Question.objects.first().verdict.delete()  # type: ignore[union-attr]
    make_verdict(Question.objects.order_by("pk")[0])
    ada, first, *_ = rows(rita)
    assert (ada["worker"], ada["called"]) == ("1", "Worker 1")
    assert (ada["hits_handed_in"], ada["questions"], ada["kept_share"]) == ("2", "3", "0.6667")
    # The median of ten and twenty minutes; two rewards of $4.00.
    assert (ada["median_minutes"], ada["paid"], ada["answers"]) == ("15.0", "8.00", "0")
    assert (first["answers"], first["paid"], first["kept_share"]) == ("1", "3.00", "")
    page = plain(rita.get(LIST).content.decode())
    assert "67 %" in page
    assert "15.0 min" in page
    assert "ADA" not in page


def test_agreement_is_with_others_and_of_what_counts(rita: Client, pilot: Collection) -> None:
    verdict = Question.objects.order_by("pk")[2].verdict
    alone, other = verdict.question.answers.order_by("pk")
    verdict.agreeing = [alone.pk]
    verdict.save()
    shares = {row["agreeing_share"] for row in rows(rita) if row["answers"] == "1"}
    assert shares == {"1.0", "0.0"}
    exclude_worker(pilot, other.worker, "Copied.", "rita", NOW)
    (out,) = rows(rita, "show=excluded")
    assert (out["excluded"], out["agreeing_share"], out["kept_share"]) == ("yes", "", "")


def test_it_is_sorted_and_filtered_as_the_address_says(rita: Client, pilot: Collection) -> None:
    ada = Worker.objects.get(questions__position=0)
    Submission.objects.filter(lease__worker=ada).update(active_seconds=6000, state="rejected")
    assert rows(rita, "sort=time")[-1]["worker"] == "1"
    assert rows(rita, "sort=pay")[0]["worker"] == "1"
    assert rows(rita, "sort=kept")[0]["worker"] == "1"
    assert [row["worker"] for row in rows(rita, "show=rejected")] == ["1"]
    assert [row["worker"] for row in rows(rita, "q=worker+3")] == ["3"]
    assert len(rows(rita, "sort=odd&show=odd")) == 7
    assert "None fits" in rita.get(f"{LIST}?q=nobody").content.decode()


def test_a_worker_leads_to_what_they_wrote_or_answered(rita: Client, pilot: Collection) -> None:
    page = rita.get(f"{LIST}1/").content.decode()
    assert "/collections/pilot/questions/?worker=1" in page
    texts = Question.objects.order_by("pk").values_list("text", flat=True)
    for number, n in ((1, 3), (2, 1), (99, 0)):
        page = rita.get(f"/collections/pilot/questions/?worker={number}").content.decode()
        assert sum(text in page for text in texts) == n
        # A number that nobody has leads to nobody's page.
        assert ("wrote or answered" in page) is (n > 0)
    page = rita.get("/collections/pilot/questions/?worker=2").content.decode()
    assert "Worker 2</a> wrote or answered" in page
    assert rita.get("/collections/pilot/questions/?worker=²").status_code == 200


def test_own_people_are_named_by_their_ids_and_on_their_pages(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"ADA": "ADA", "OLDGRACE": "GRACE"}
    monkeypatch.setattr(groups, "known_as", lambda ids: {one: known.get(one, "") for one in ids})
    send = {"names": "ADA, Ada <Lovelace>\nOLDGRACE\tGrace Hopper\n"}
    page = rita.post(f"{LIST}names/", send, follow=True).content.decode()
    assert "2 names noted." in page
    assert "Ada &lt;Lovelace&gt; (Worker 1)" in page
    assert GivenName.objects.get(worker__identity__person="GRACE").name == "Grace Hopper"
    send = {"names": "ADA Ada\nMALLORY Mal"}
    page = rita.post(f"{LIST}names/", send, follow=True).content.decode()
    assert "knows nobody called MALLORY" in page
    assert "MALLORY Mal</textarea>" in page
    assert "Write a line for each" in rita.post(f"{LIST}names/", {}, follow=True).content.decode()
    rita.post(f"{LIST}1/name/", {"name": " Countess  of Lovelace "})
    assert [row["called"] for row in rows(rita, "q=countess")] == [
        "Countess of Lovelace (Worker 1)"
    ]
    page = rita.post(f"{LIST}1/name/", {"name": "a" * 81}, follow=True).content.decode()
    assert "at most 80 characters" in page
    rita.post(f"{LIST}1/name/", {"name": " "})
    assert "Countess" not in rita.get(LIST).content.decode()


def test_a_name_goes_when_the_person_is_forgotten(rita: Client, pilot: Collection) -> None:
    ada = make_worker("GONE")
    GivenName.objects.create(worker=ada, name="Ada")
    forget(ada, NOW, withdraw=False)
    with pytest.raises(ActionError, match="has been forgotten"):
        name_worker(ada, "Ada")
    assert not GivenName.objects.exists()


def test_its_queries_do_not_follow_the_people(rita: Client, pilot: Collection) -> None:
    few = queries(lambda: rita.get(LIST))
    for _ in range(3):
        make_answer(make_question(stage_of(pilot, "question")), stage_of(pilot, "answer"))
    assert queries(lambda: rita.get(LIST)) == few


def test_before_anybody_came_it_says_so(rita: Client, settings: Any) -> None:
    make_lines(settings)
    assert "Nobody has taken work yet" in rita.get("/collections/lines/workers/").content.decode()
