"""Tests of the list of collections, of a new one, and of the page of one."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.dashboard import forms
from annotation.dashboard.collections import views as collections_views
from annotation.dashboard.forms import protocol_choices
from annotation.dashboard.tests.making import (
    make_attempt,
    make_full,
    make_lease,
    make_submission,
    plain,
)
from collector.models import Collection
from tasks.models import LeaseState, ProblemReport, Session
from tasks.tests.making import make_collection, make_corpus, stage_of

pytestmark = pytest.mark.django_db
FORM = {
    "title": "Island questions",
    "slug": "",
    "protocol": "iirc",
    "corpus": "hollin",
    "budget": "250.50",
    "requester_name": "Rita",
    "requester_contact": "rita@example.org",
    "ethics_number": "ETH-7",
    "seed": "3",
}


def queries(call: Callable[[], object]) -> int:
    """Return how many queries the call makes."""
    with CaptureQueriesContext(connection) as found:
        call()
    return len(found)


def test_an_empty_list_says_what_to_do(rita: Client) -> None:
    page = rita.get("/collections/").content.decode()
    assert "Create the first collection" in page


def test_the_list_shows_progress_money_and_what_waits(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    make_attempt(stage_of(collection, "question_qualification"))
    page = rita.get("/collections/").content.decode()
    assert '/collections/pilot/qualification/">1 qualification to inspect</a>' in page
    assert "$1,000.00" in page


def test_a_collection_of_another_version_is_named_with_its_reason(rita: Client) -> None:
    make_collection(slug="pilot")
    Collection.objects.update(protocol_version=99)
    for path in ("/collections/", "/collections/pilot/"):
        assert "was made with version 99" in rita.get(path).content.decode()
    assert rita.get("/collections/pilot/").status_code == 409


def test_protocols_are_offered_as_the_readme_names_them() -> None:
    readme = (Path(settings.BASE_DIR) / "README.md").read_text("utf-8")
    named = re.findall(r"\(annotation/protocols/(\w+)/README\.md\)", readme)
    assert len(named) > 3
    assert [name for name, _ in protocol_choices()] == named


def test_a_new_collection_is_made_and_leads_to_its_seeds(rita: Client) -> None:
    make_corpus()
    reply = rita.post("/collections/new/", FORM)
    assert reply["Location"] == "/collections/island-questions/seeds/"
    made = Collection.objects.get()
    assert (made.budget_cents, made.random_seed, made.ethics_number) == (25050, 3, "ETH-7")
    assert made.stages.count() == 5


def test_a_form_sent_again_leads_to_the_collection_that_it_made(rita: Client) -> None:
    make_corpus()
    first = rita.post("/collections/new/", FORM)
    # Also who goes back to it: the page is another one then.
    rita.get("/collections/new/")
    again = rita.post("/collections/new/", FORM)
    assert (again.status_code, again["Location"]) == (302, first["Location"])
    # Whoever goes back and types something else wants something else.
    other = {**FORM, "title": "Island answers"}
    assert rita.post("/collections/new/", other)["Location"] == "/collections/island-answers/seeds/"
    changed = rita.post("/collections/new/", {**FORM, "budget": "9"})
    assert "There is already a collection" in changed.content.decode()
    assert Collection.objects.count() == 2


def test_of_a_form_sent_twice_at_once_one_makes_the_collection(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_corpus()
    create, replies = collections_views.create_collection, []

    def another_is_first(*args: Any, **kwargs: Any) -> Collection:
        monkeypatch.setattr(collections_views, "create_collection", create)
        replies.append(rita.post("/collections/new/", FORM))
        return create(*args, **kwargs)

    monkeypatch.setattr(collections_views, "create_collection", another_is_first)
    replies.append(rita.post("/collections/new/", FORM))
    assert {one["Location"] for one in replies} == {"/collections/island-questions/seeds/"}


def test_the_form_says_what_workers_will_do_and_for_how_much(rita: Client) -> None:
    make_corpus()
    page = rita.get("/collections/new/").content.decode()
    assert "<b>Write ten questions about what a paragraph leaves out</b>, $4.00 a HIT." in plain(
        page
    )
    assert "Read ten short paragraphs with links and write ten questions" in page


def test_the_form_says_that_groups_can_limit_it_before_there_is_one(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "listed", list)
    make_corpus()
    page = rita.get("/collections/new/").content.decode()
    assert "Everybody on the marketplace who is qualified; once its host has made a group" in page
    assert "/marketplace/?to=%2Fdesk%2Fteam%2F&amp;back=%2Fcollections%2Fnew%2F" in page


def test_without_a_corpus_it_says_how_to_get_one(rita: Client) -> None:
    assert "ingest_dump" in rita.get("/collections/new/").content.decode()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"title": ""}, "This field is required."),
        ({"slug": "pilot"}, "There is already a collection"),
        ({"slug": "new"}, "and is not “new”"),
        ({"slug": "no blanks"}, "letters from A to Z, digits, hyphens and underscores"),
        ({"title": "كتاب"}, "Give a short name in Latin letters"),
        ({"budget": "much"}, "Enter a number."),
        ({"budget": "-1"}, "greater than or equal to 0"),
        ({"protocol": "none"}, "not one of the available choices"),
        ({"corpus": "none"}, "not one of the available choices"),
        ({"requester_contact": " "}, "This field is required."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    rita: Client, changed: dict[str, str], sentence: str
) -> None:
    make_collection(slug="pilot")
    reply = rita.post("/collections/new/", {**FORM, **changed})
    page = reply.content.decode()
    assert reply.status_code == 400
    assert sentence in page
    assert "ETH-7" in page, "what was typed stays"
    assert Collection.objects.count() == 1


def test_an_unknown_collection_is_nowhere(rita: Client) -> None:
    reply = rita.get("/collections/nothing/")
    assert reply.status_code == 404
    assert b"Nothing is here" in reply.content


def test_a_draft_without_seeds_leads_to_the_seeds(rita: Client) -> None:
    make_corpus()
    rita.post("/collections/new/", FORM)
    page = rita.get("/collections/island-questions/").content.decode()
    assert "Choose seeds" in page
    assert "What workers and you do is listed here." in page


def test_the_page_shows_stages_money_and_events(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    make_full(collection, 1)
    page = rita.get("/collections/pilot/").content.decode()
    for words in (
        "Question qualification",
        "Human performance",
        "Maximum total",
        "1 submission to inspect: Question qualification",
        "Worker 1 handed in",
    ):
        assert words in page


def test_pay_below_the_floor_is_warned_of(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    make_submission(stage_of(collection, "question"), minutes=60)
    page = rita.get("/collections/pilot/").content.decode()
    assert "Question pays $4.00 an hour, below your floor of $9.00" in page


def test_time_of_simulated_workers_warns_of_nothing(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    submission = make_submission(stage_of(collection, "question"), minutes=60)
    type(submission).objects.update(synthetic=True)
    page = rita.get("/collections/pilot/").content.decode()
    assert "below your floor" not in page
    assert "simulated workers" in page
    type(submission).objects.update(active_seconds=0)
    assert "done by simulated workers" in rita.get("/collections/pilot/").content.decode()


def test_a_few_seconds_of_work_show_no_rate(rita: Client) -> None:
    stage = stage_of(make_collection(slug="pilot"), "question")
    submission = make_submission(stage)
    type(submission).objects.update(active_seconds=5)
    page = rita.get("/collections/pilot/").content.decode()
    assert "median 5 s, too short to be the time of work" in page
    assert "an hour" not in page.partition("too short to be")[2].partition("</p>")[0]


def test_reports_and_unpaid_work_need_attention(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    lease = make_lease(
        stage_of(collection, "question"),
        state=LeaseState.EXPIRED,
        draft={},
    )
    over = timezone.now() - timedelta(hours=1)
    Session.objects.filter(pk=lease.session_id).update(signed_until=over)
    ProblemReport.objects.create(lease=lease, message="No text", at=timezone.now())
    page = rita.get("/collections/pilot/").content.decode()
    assert "1 problem reported by workers" in page
    assert "1 payment for cut-off work not made yet" in page


def test_the_part_that_changes_comes_alone(rita: Client) -> None:
    make_collection(slug="pilot")
    page = rita.get("/collections/pilot/now/").content.decode()
    assert "<html" not in page
    assert "Needs your attention" in page


def test_no_page_holds_an_identity_or_an_internal_id(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    make_full(collection, 2)
    page = rita.get("/collections/pilot/").content.decode()
    for lease in collection.stages.get(name="question").units.first().leases.all():
        assert lease.worker_id not in page
        assert lease.worker.identity.person not in page


def test_its_queries_do_not_follow_the_work(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    make_full(collection, 1)
    one = queries(lambda: rita.get("/collections/pilot/"))
    make_full(collection, 4)
    assert queries(lambda: rita.get("/collections/pilot/")) == one
    assert one <= 57


@pytest.mark.parametrize("path", ["/collections/", "/"])
def test_lists_cost_the_same_for_one_and_for_many(rita: Client, path: str) -> None:
    corpus = make_corpus()
    make_collection(corpus, slug="pilot")
    one = queries(lambda: rita.get(path))
    for number in range(5):
        make_collection(corpus, slug=f"more-{number}")
    assert queries(lambda: rita.get(path)) == one


def test_pages_allow_no_inline_script_or_style(rita: Client) -> None:
    collection = make_collection(slug="pilot")
    make_full(collection, 1)
    for path in ("", "seeds/", "qualification/question_qualification/"):
        reply: Any = rita.get(f"/collections/pilot/{path}")
        page = reply.content.decode()
        assert "script-src 'self'" in reply["Content-Security-Policy"]
        assert " style=" not in page
        assert "<style" not in page
        assert "<script>" not in page
