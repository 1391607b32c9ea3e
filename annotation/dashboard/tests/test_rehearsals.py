"""The page *Rehearse*: begun and stopped without touching the collection, and what was found."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Rehearsal, RehearsalPage
from collector.models import Collection
from common.long_work import WorkState
from tasks.models import Unit
from tasks.tests.making import make_collection
from tests.table_bytes import bytes_of_tables

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])
PAGE = "/collections/pilot/rehearse/"
PROBLEMS = [
    {"kind": "places", "sentence": "Assignments that nobody could take.", "n": 3, "stage": "Ask"},
    {"kind": "refused", "sentence": "Write a question.", "n": 2, "stage": "Ask"},
    {"kind": "search", "sentence": "The search does not work.", "n": 5, "stage": "Ask"},
    {"kind": "notice", "sentence": "Nothing here for you", "n": 1, "stage": ""},
]
STAGE = {
    "name": "question",
    "title": "Ask",
    "hits": 4,
    "reward_cents": 400,
    "bonus_cents": 0,
    "expected_minutes": 5,
    "least_minutes": 8.4,
    "cents_per_hour": 500,
    "floor_cents_per_hour": 900,
}
FOUND = {
    "workers": 12,
    "seconds": 21.4,
    "hits": 40,
    "stages": [STAGE],
    "cost_cents": 2000,
    "expected_cents": 1000,
    "maximum_cents": 4000,
    "kept": 24,
    "dropped": 2,
    "waiting": 6,
    "problems": PROBLEMS,
    "server": {"requests": 300, "median_ms": 44, "slow_ms": 160},
    "tables": [],
    "copied": {"seeds": 3, "articles": 9},
    "part": "Of the corpus’s 900 documents 9 were copied.",
    "whole": {"seeds": 4, "expected_cents": 5000, "maximum_cents": 9000, "budget_cents": 9900},
}


def rehearsed(collection: Collection, state: str = WorkState.DONE, **values: Any) -> Rehearsal:
    """Return a rehearsal that has ended, with two pages."""
    now = timezone.now()
    row = Rehearsal.objects.create(
        collection=collection,
        n_workers=12,
        by="Rita",
        asked_at=now,
        state=state,
        findings=FOUND if state == WorkState.DONE else {},
        **values,
    )
    for position, (stage, moment, is_work) in enumerate(
        [("", "Consent", False), ("Ask", "When it was refused", True)], 1
    ):
        RehearsalPage.objects.create(
            rehearsal=row,
            position=position,
            stage=stage,
            moment=moment,
            note="Write a question." if stage else "",
            html=f"<!doctype html><p>{moment}, itself",
            is_work=is_work,
        )
    return row


def test_beginning_and_stopping_one_changes_nothing_of_the_collection(rita: Client) -> None:
    make_collection()
    before = bytes_of_tables(but=("annotation_rehearsal", "django_session"))
    page = rita.post(f"{PAGE}begin/", {"workers": "6"}, follow=True).content.decode()
    row = Rehearsal.objects.get()
    assert (row.n_workers, row.state, row.by) == (6, WorkState.WAITING, "owner")
    assert "Waiting to begin" in page
    assert 'data-live="/collections/pilot/rehearse/now/"' in page
    assert "Waiting to begin" in rita.get(f"{PAGE}now/").content.decode()
    again = rita.post(f"{PAGE}begin/", {"workers": "6"}, follow=True).content.decode()
    assert "It is being rehearsed already" in again
    stopped = rita.post(f"{PAGE}{row.pk}/stop/", follow=True).content.decode()
    assert "The copy is thrown away" in stopped
    assert Rehearsal.objects.get().state == WorkState.STOPPED
    once_more = rita.post(f"{PAGE}{row.pk}/stop/", follow=True).content.decode()
    assert "It has ended already" in once_more
    assert bytes_of_tables(but=("annotation_rehearsal", "django_session")) == before


def test_its_page_says_what_to_do_before_there_is_anything(rita: Client) -> None:
    collection = make_collection()
    Unit.objects.all().delete()
    collection.seeds.all().delete()
    page = rita.get(PAGE).content.decode()
    assert "choose seeds first" in page
    assert "<form" not in page.partition("<main")[2]
    refused = rita.post(f"{PAGE}begin/", {"workers": "many"}, follow=True).content.decode()
    assert "Rehearse with 2 to 100 simulated workers" in refused


def test_it_shows_what_was_found_and_marks_it_as_simulated(rita: Client) -> None:
    row = rehearsed(make_collection())
    page = rita.get(PAGE).content.decode()
    for words in (
        *(
            "All of this is simulated",
            "Of the corpus’s 900 documents 9 were copied.",
            "12 simulated workers",
            "of 32 asked",
            "44 ms",
        ),
        *("$20.00", "expected were $10.00", "$100.00", "the budget is $99.00"),
        *("Assignments that nobody could take.", "8.4 min", "Refused until mended"),
        *("The search does not work.", "without a search says little"),
    ):
        assert words in page
    # Dearer than the budget, slower than expected, and below the floor.
    assert page.count(' class="warn"') + page.count(' class="n warn"') == 3
    assert f'href="{PAGE}{row.pk}/pages/2/">Write a question.' in page
    assert rita.get(f"{PAGE}{row.pk}/").content.decode().count("44 ms") == 1


def test_a_page_is_shown_in_a_frame_that_sends_nothing_anywhere(rita: Client) -> None:
    row = rehearsed(make_collection())
    around = rita.get(f"{PAGE}{row.pk}/pages/1/")
    assert "Simulated: a page of a rehearsal" in around.content.decode()
    assert "frame-src 'self'" in around["Content-Security-Policy"]
    assert " sandbox>" in around.content.decode()
    work = rita.get(f"{PAGE}{row.pk}/pages/2/").content.decode()
    assert "<li>Write a question.</li>" in work
    assert " sandbox>" not in work
    itself = rita.get(f"{PAGE}{row.pk}/pages/2/itself/")
    assert itself.content.decode() == "<!doctype html><p>When it was refused, itself"
    policy = itself["Content-Security-Policy"].split("; ")
    for rule in ("connect-src 'none'", "form-action 'none'", "frame-ancestors 'self'"):
        assert rule in policy
    assert rita.get(f"{PAGE}{row.pk}/pages/9/").status_code == 404
    other = rita.get(f"/collections/pilot/rehearse/{row.pk + 1}/pages/1/")
    assert other.status_code == 404


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (WorkState.FAILED, "Port 1 is taken."),
        (WorkState.STOPPED, "nothing is left of it"),
        (WorkState.RUNNING, "40%"),
    ],
)
def test_it_says_how_far_one_is_or_how_it_ended(rita: Client, state: str, words: str) -> None:
    rehearsed(make_collection(), state, message="Port 1 is taken.", share_done=0.4)
    assert words in rita.get(PAGE).content.decode()


def test_a_draft_leads_to_its_rehearsal(rita: Client) -> None:
    collection = make_collection()
    Collection.objects.filter(pk=collection.pk).update(state="draft")
    for page in ("", "publish/"):
        assert f'href="{PAGE}"' in rita.get(f"/collections/pilot/{page}").content.decode()
