"""Preview as a worker: each stage's real page, checked as it would be, and nothing is kept."""

import json
from typing import Any

import pytest
from django.test import Client

from collector.models import Collection
from tasks.dialog.tests.making import make_dialogs
from tasks.models import Question, Unit, UnitItem
from tasks.pages.stage_preview import NOBODYS_QUESTION
from tasks.simulation.browser import parse_page
from tasks.tests.making import make_collection
from tests.table_bytes import bytes_of_tables

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])
PAGE = "/collections/pilot/preview/"


def state_of(browser: Client, address: str) -> dict[str, Any]:
    """Return what a page of work was told."""
    reply = browser.get(address)
    assert reply.status_code == 200, address
    return parse_page(reply.content.decode(), f"http://localhost{address}").data("page-state")


def drop_work(collection: Collection) -> None:
    """Leave the collection as it is before anybody works."""
    UnitItem.objects.all().delete()
    Question.objects.all().delete()
    Unit.objects.all().delete()
    Collection.objects.filter(pk=collection.pk).update(state="draft")


def test_every_stage_of_a_draft_shows_its_page_and_nothing_is_kept(rita: Client) -> None:
    collection = make_collection()
    drop_work(collection)
    before = bytes_of_tables()
    for stage in collection.stages.all():
        page = rita.get(f"{PAGE}{stage.name}/").content.decode()
        assert "A preview: nothing is kept, nobody is paid." in page
        assert f'src="{PAGE}{stage.name}/work/itself/"' in page
        preview = state_of(rita, f"{PAGE}{stage.name}/before/itself/")
        assert (preview["mode"], preview["items"]) == ("preview", [])
        work = state_of(rita, f"{PAGE}{stage.name}/work/itself/")
        assert (work["mode"], work["token"], work["urls"]) == ("trial", "", {})
        assert work["items"]
        asked = rita.post(
            work["trial"]["urls"]["submit"], {"data": {}}, content_type="application/json"
        )
        assert asked.json()["problems"], stage.name
    assert bytes_of_tables() == before
    assert "words stand in" in rita.get(f"{PAGE}answer/").content.decode()
    assert work["items"][0]["question"] == NOBODYS_QUESTION


def test_what_workers_have_asked_is_shown_to_be_answered(rita: Client) -> None:
    collection = make_collection()
    seed = collection.seeds.first()
    Question.objects.create(
        stage=collection.stages.get(name="question"),
        position=0,
        seed=seed,
        key="k",
        text="Who lives there?",
        payload={"context": [], "links": []},
        created_at=collection.created_at,
    )
    work = state_of(rita, f"{PAGE}answer/work/itself/")
    assert [item["question"] for item in work["items"]] == ["Who lives there?"]
    assert (
        "With questions that workers have written"
        in rita.get(f"{PAGE}answer/work/").content.decode()
    )
    # Its links open, and no other article does.
    address, item = work["trial"]["urls"]["article"], work["items"][0]
    link = item["passage"]["links"][0]["title"]
    for title, status in ((link, 200), (item["passage"]["title"], 404)):
        wanted = {"item": item["id"], "title": title}
        reply = rita.post(address, wanted, content_type="application/json")
        assert reply.status_code == status


def test_both_sides_of_a_dialog_are_shown_and_each_sees_its_own(rita: Client) -> None:
    collection = make_dialogs()
    before = bytes_of_tables()
    page = f"/collections/{collection.slug}/preview/dialog/"
    student = state_of(rita, f"{page}student/itself/")["talk"]["dialog"]
    teacher = state_of(rita, f"{page}teacher/itself/")["talk"]["dialog"]
    assert (student["to_move"], teacher["to_move"]) == ("student", "teacher")
    assert "section" not in student
    assert "tokens" not in student
    assert teacher["section"]
    assert student["turns"] == []
    assert bytes_of_tables() == before
    assert rita.get(f"{page}work/").status_code == 404


def test_without_seeds_it_shows_what_there_is_and_says_what_to_do(rita: Client) -> None:
    collection = make_collection()
    drop_work(collection)
    collection.seeds.all().delete()
    page = rita.get(f"{PAGE}question/").content.decode()
    assert "Choose seeds" in page
    assert f'src="{PAGE}question/before/itself/"' in page
    assert rita.get(f"{PAGE}question/work/").status_code == 404
    assert rita.get(f"{PAGE}question/work/itself/").status_code == 404
    assert rita.post(f"{PAGE}question/check/").status_code == 404


def test_what_cannot_be_read_is_checked_as_if_nothing_was_done(rita: Client) -> None:
    make_collection()
    deep = json.dumps({"data": [[]]}).replace("[]", "[" * 70 + "]" * 70)
    for body in ("", "[", "[]", deep, "9" * 1_000_001):
        reply = rita.post(f"{PAGE}question/check/", body, content_type="application/json")
        assert reply.json()["problems"]


@pytest.mark.parametrize("name", ["check", "article", "search"])
def test_a_form_that_no_page_has_is_refused(rita: Client, name: str) -> None:
    make_collection()
    token = state_of(rita, f"{PAGE}question/work/itself/")["trial"]["token"]
    rita.handler.enforce_csrf_checks = True
    reply = rita.post(f"{PAGE}question/{name}/", {"x": "y"}, headers={"X-CSRFToken": token})
    assert reply.status_code == 400


def test_a_page_of_the_preview_asks_this_server_alone(rita: Client) -> None:
    make_collection()
    policy = rita.get(f"{PAGE}question/work/itself/")["Content-Security-Policy"].split("; ")
    for rule in ("connect-src 'self'", "form-action 'none'", "frame-ancestors 'self'"):
        assert rule in policy
