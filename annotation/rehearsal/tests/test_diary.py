"""What a rehearsal keeps of its pages: they can be tried, send nothing, and need nothing else."""

import json
from collections import Counter

import httpx
import pytest

from annotation.rehearsal.diary import (
    ADVISED,
    AS_TEACHER,
    BLANK,
    REFUSED,
    SUBMITTED,
    Diary,
    Effort,
    still,
    to_try,
)
from annotation.rehearsal.walk import as_stored, findings_of, least_minutes
from annotation.tables.table import Table, share
from tasks.costs import estimate, totals
from tasks.pages.work_page import CLOSING, OPENING
from tasks.simulation.browser import Browser, parse_page
from tasks.simulation.crowd import Result
from tasks.simulation.worker import WorkPage
from tasks.tests.making import make_collection

STATE = {
    "title": "Ask",
    "kind": "question",
    "mode": "work",
    "token": "secret",
    "urls": {"submit": "/hit/submit"},
    "items": [{"id": "1", "text": "one two three", "lang": "no"}],
}
HTML = f"<html>{OPENING}{json.dumps(STATE)}{CLOSING}<script src=x></script></html>"
PAGE = parse_page(HTML, "http://localhost:1/hit/")


def test_a_page_of_work_is_kept_without_its_token_and_addresses() -> None:
    kept = to_try(HTML, {**STATE, "draft": {"data": {"questions": ["</script>"]}}})
    state = parse_page(kept, "http://localhost/").data("page-state")
    assert (state["mode"], state["token"], state["urls"]) == ("trial", "", {})
    assert state["draft"]["data"] == {"questions": ["</script>"]}
    assert "secret" not in kept


def test_another_page_is_kept_still_and_with_its_style_inside() -> None:
    page = (
        '<link rel="stylesheet" href="/static/common/tokens.css"><script>go()</script>'
        '<iframe src="x"></iframe><p>Words'
    )
    kept = still(page)
    assert kept.startswith("<style>")
    assert "--primary" in kept
    assert kept.endswith("</style><p>Words")


def test_one_page_is_kept_of_each_kind_and_state_and_the_rest_is_counted() -> None:
    diary = Diary()
    problem = {"index": 0, "field": "text", "message": "Write a question."}
    assert diary.tries_blank(STATE)
    assert not diary.tries_blank(STATE)
    diary.refused(PAGE, STATE, {}, [problem])
    for _ in range(2):
        diary.refused(PAGE, STATE, {"questions": []}, [problem, problem])
        diary.advised(PAGE, STATE, {"questions": []}, [problem])
        diary.submitted(PAGE, STATE, {"questions": [{"item": "1", "text": "Why so?"}]}, {})
    assert set(diary.pages) == {("Ask", each) for each in (BLANK, REFUSED, ADVISED, SUBMITTED)}
    assert diary.pages["Ask", REFUSED].note == "Write a question."
    # Submitting nothing is our own doing.
    assert dict(diary.told) == {
        ("Ask", True, "Write a question."): 4,
        ("Ask", False, "Write a question."): 2,
    }
    assert diary.efforts["Ask"] == Effort(hits=2, words_read=6, characters_typed=14)


@pytest.mark.django_db
def test_a_search_that_fails_is_a_problem_of_its_stage() -> None:
    diary = Diary()
    broken = httpx.MockTransport(lambda request: httpx.Response(503, json={"message": "Not now."}))
    searched = {"title": "Find", "limits": {"results_per_search": 9}, "token": ""}
    browser = Browser("http://localhost:1/", broken, diary)
    page = WorkPage(browser, PAGE, {**searched, "urls": {"search": "/hit/search"}}, Counter())
    for _ in range(2):
        assert page.open_article("1", "lighthouse") is None
    browser.close()
    collection = make_collection()
    money = totals(collection, estimate(collection))
    problems = findings_of(collection, diary, Result(1), money)["problems"]
    told = {"kind": "search", "sentence": "Not now.", "n": 2, "stage": "Find"}
    assert [each for each in problems if each["kind"] == "search"] == [told]


def test_headings_are_read_and_short_and_full_answers_are_written() -> None:
    diary = Diary()
    headings = [{"words": "The harbour", "level": 1}, {"words": "The light", "level": 2}]
    asked = {"id": "1", "documents": [{"title": "Old Carrow", "lang": "en", "headings": headings}]}
    diary.submitted(PAGE, {**STATE, "title": "Natural", "items": [asked]}, {}, {})
    mark = {"document": "carrow.md", "paragraph": 1, "start": 0, "end": 9}
    answered = {"item": "1", "type": "answer", "short": "1801", "full": "In 1801.", "evidence": []}
    diary.submitted(PAGE, STATE, {"answers": [{**answered, "evidence": [mark]}]}, {})
    assert diary.efforts["Natural"].words_read == 6
    assert diary.efforts["Ask"].characters_typed == 12


def test_what_is_opened_of_a_search_is_read_once_and_what_is_not_is_not() -> None:
    diary = Diary()
    passage = {"document": "carrow.md", "paragraph": 1, "title": "Carrow", "text": "four five"}
    unread = {"document": "quarn.md", "paragraph": 2, "title": "Quarn", "snippet": "not read"}
    answers = {
        "/search": {"query": "lighthouse", "results": [passage, unread]},
        "/article": passage,
        "/submit": {"form": {"action": "/done", "fields": {}}},
    }
    answering = httpx.MockTransport(lambda asked: httpx.Response(200, json=answers[asked.url.path]))
    browser = Browser("http://localhost:1/", answering, diary)
    urls = {name[1:]: name for name in answers}
    state = {**STATE, "limits": {"results_per_search": 9}, "token": "", "urls": urls}
    page = WorkPage(browser, PAGE, state, Counter())
    page.open_article("1", "lighthouse")
    for _ in range(2):
        assert page.open_article("1", "carrow.md#1") == passage
    mark = {"document": "carrow.md", "paragraph": 1, "start": 5, "end": 9}
    page.submit({"answers": [{"item": "1", "evidence": [mark]}]})
    browser.close()
    assert diary.efforts["Ask"].words_read == 3 + 3
    # The page that is kept shows what its worker searched for, opened and marked.
    shown = parse_page(diary.pages["Ask", SUBMITTED].html, "http://localhost/").data("page-state")
    found = {"lighthouse": answers["/search"]}
    assert shown["trial"]["answers"] == {"search": found, "article": {"carrow.md#1": passage}}
    (kept,) = shown["draft"]["data"]["answers"]
    assert kept["evidence"] == [{**mark, "title": "Carrow", "text": "five"}]


def test_the_words_of_a_link_are_read_once() -> None:
    diary = Diary()
    link = {"start": 0, "end": 3, "title": "The number one", "readable": True}
    passage = {"title": "Numbers", "text": "one two", "links": [link]}
    diary.submitted(PAGE, {**STATE, "items": [{"id": "1", "passage": passage}]}, {}, {})
    assert diary.efforts["Ask"].words_read == 3


def test_of_a_live_dialog_the_longest_state_of_each_role_is_kept() -> None:
    diary = Diary()
    for n_turns in (1, 3, 2):
        talk = {"role": "teacher", "turns": [{}] * n_turns}
        diary.heard(PAGE, STATE, {"phase": "talking", "dialog": talk})
    (page,) = diary.pages.values()
    shown = parse_page(page.html, "http://localhost/").data("page-state")
    assert page.moment == AS_TEACHER
    assert len(shown["talk"]["dialog"]["turns"]) == 3


def test_a_hit_takes_at_least_its_reading_and_its_typing() -> None:
    # 476 words at 238 a minute, and 520 characters, five a word, at 52 words a minute.
    assert least_minutes(Effort(2, 2 * 476, 2 * 520)) == pytest.approx(4.0)
    assert least_minutes(Effort(2)) is None
    assert least_minutes(Effort()) is None


def test_a_table_of_the_report_is_kept_with_its_shares() -> None:
    table = Table("pay", "Pay", ["stage", "share"], [["ask", share(1, 4)]], shaded_from=1)
    assert Table(**json.loads(json.dumps(as_stored(table)))).texts() == table.texts()
