"""It runs from own documents to a release: some ask, others search for the answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from annotation.models import Verdict
from annotation.protocols.rag.tests.conftest import WRITER
from annotation.release.tests.reference_readers import read_release
from annotation.replay.tests.test_acts import check_told
from collector.models import Collection, Paragraph
from tasks.models import Answer, Lease, LeaseState, Question, Skip, Unit
from tests.page_workers import STATE, Person, look, next_step, run

pytestmark = pytest.mark.django_db
READERS = ("AEDITH", "AIDA", "AGRACE")


def read_all(collection: Collection) -> None:
    """Let three people search for the answers to everything that was asked."""
    for name in READERS:
        reader = Person(name, collection)
        reader.work("find")
        reader.work("reading")
    look(collection)
    run("validate_answers", collection.slug)


def text_at(piece: dict[str, Any]) -> str:
    """Return the words of the corpus that a piece of evidence names."""
    passage = Paragraph.objects.get(
        article__document__external_id=piece["document"], position=piece["paragraph"]
    )
    return passage.text[piece["start"] : piece["end"]]


def test_it_runs_from_documents_to_a_release(
    asked: Collection, tmp_path: Path, settings: Any
) -> None:
    read_all(asked)
    found = list(Verdict.objects.all())
    assert len(found) == Question.objects.count() == 6 - Skip.objects.count()
    assert {one.outcome for one in found} <= {"kept", "dropped"}
    assert sum(one.outcome == "kept" for one in found) >= 4
    for answer in Answer.objects.all():
        for piece in answer.payload["evidence"]:
            assert text_at(piece) == piece["text"]
    readers = Answer.objects.filter(stage__name__in=["find", "reading"])
    assert all(one.payload["searches"] for one in readers.exclude(type="bad"))
    run("make_splits", asked.slug)
    run("export_dataset", asked.slug, out=tmp_path / "out")
    files = [json.loads((tmp_path / "out" / f"{fold}.json").read_text()) for fold in FOLDS]
    released = [one for file in files for seed in file["data"] for one in seed["qas"]]
    assert len(released) == Verdict.objects.filter(outcome="kept").count()
    assert all(
        text_at(place(piece)) == piece["text"] for one in released for piece in evidence(one)
    )
    check_told(asked, tmp_path / "told")
    typed = read_release(tmp_path / "out", tmp_path / "cache")
    by_id = {row["id"]: row for rows in typed.values() for row in rows}
    for one in released:
        row = by_id.pop(one["id"])
        for name in ("is_impossible", "full_answer", "category"):
            assert (row[name] or None) == (one[name] or None)
        assert {mark["document"] for mark in row["evidence"]} == {
            mark["passage_id"] for mark in one["evidence"]
        }
        assert not one["answers"] or row["answer"] == one["answers"][0]["text"]
    assert not by_id
    settings.PASSWORDLESS_SIGN_IN = True
    rita = Client(HTTP_HOST="localhost")
    shown = Verdict.objects.filter(outcome="kept", question__answers__type="answer")[0].question
    for page in ("", "now/", "seeds/", "questions/", "report/", f"questions/{shown.key}/"):
        answered = rita.get(f"/collections/sought/{page}")
        assert answered.status_code == 200, page
    assert "An answer with evidence" in answered.content.decode()


def test_a_collection_of_which_some_sets_were_skipped_says_when_all_work_is_in(
    collection: Collection,
) -> None:
    def skip(state: dict[str, Any], data: dict[str, Any]) -> None:
        first, *others = data["questions"]
        first |= {"skipped": True, "reason": "They have nothing in common."}
        assert not any(other["skipped"] for other in others)

    given = collection.parameters
    collection.parameters = given | {
        "question": given["question"] | {"max_skips_per_set": 1},
        "reading": given["reading"] | {"items_per_hit": 1},
    }
    collection.save()
    ada = Person(WRITER, collection)
    assert (ada.work("natural"), ada.work("question", skip)) == (1, 1)
    look(collection)
    assert "HITs wait on the marketplace" in next_step(collection)
    read_all(collection)
    assert Skip.objects.count() == 1
    assert next_step(collection).startswith("All work is in.")


FOLDS = ("train", "dev", "test")


def evidence(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what proves, or seems to prove, the answers to a released question."""
    kinds = ("evidence", "other_evidence", "plausible_evidence")
    return [piece for kind in kinds for piece in question[kind]]


def place(piece: dict[str, Any]) -> dict[str, Any]:
    """Return a released piece of evidence with its passage's place in the document."""
    paragraph = int(piece["passage_id"].rpartition("#")[2])
    return {
        **piece,
        "paragraph": paragraph,
        "start": piece["answer_start"],
        "end": piece["answer_end"],
    }


def test_who_asks_naturally_is_sent_titles_and_headings_and_not_a_word_of_text(
    collection: Collection,
) -> None:
    state, html = Person("AEDITH", collection).enter("natural")
    told = [document for item in state["items"] for document in item["documents"]]
    assert told
    assert {heading["words"] for one in told for heading in one["headings"]} == {
        "The harbour",
        "The lighthouse",
    }
    for text in Paragraph.objects.values_list("text", flat=True):
        assert text[:30] not in html
    assert refused(collection, "natural") == {404}


def test_who_writes_is_sent_the_passages_of_the_set_and_may_search_nothing(
    collection: Collection,
) -> None:
    state, html = Person("AEDITH", collection).enter("question")
    shown = {one["text"] for item in state["items"] for one in item["paragraphs"]}
    for text in Paragraph.objects.values_list("text", flat=True):
        assert (text[:60] in html) is (text in shown)
    assert refused(collection, "question") == {404}


def refused(collection: Collection, stage: str) -> set[int]:
    """Return what a page without a search box is answered where it asks for what it must not."""
    person = Person("AIDA", collection)
    state, _ = person.enter(stage)
    name = "carrow.md#0"
    calls = (("search", {"query": "harbour"}), ("article", {"item": "0", "title": name}))
    return {person.post(state, call, body).status_code for call, body in calls}


@pytest.mark.parametrize("stage", ["find", "reading"])
def test_a_reader_is_sent_the_questions_and_nothing_of_what_the_writer_saw_or_answered(
    asked: Collection, stage: str
) -> None:
    state, html = Person("AEDITH", asked).enter(stage)
    assert all(set(item) == {"id", "question", "lang", "dir"} for item in state["items"])
    for text in Paragraph.objects.values_list("text", flat=True):
        assert text[:60] not in html
    for answer in Answer.objects.exclude(payload__short=""):
        assert answer.payload["full"] not in html
    assert "carrow.md" not in html


def test_a_search_brings_passages_that_are_opened_one_by_one(asked: Collection) -> None:
    edith = Person("AEDITH", asked)
    state, _ = edith.enter("reading")
    found = edith.post(state, "search", {"item": "0", "query": "lighthouse Carrow"}).json()
    first = found["results"][0]
    assert (first["document"], first["title"], first["section"]) == (
        "carrow.md",
        "Carrow",
        "The lighthouse",
    )
    assert "text" not in first
    start, end = first["hits"][0]
    assert first["snippet"][start:end].casefold() == "lighthouse"
    opened = edith.post(state, "article", {"item": "0", "title": "carrow.md#1"}).json()
    assert opened["text"].startswith("A lighthouse stands north of Carrow")
    assert (opened["before"], opened["behind"], opened["lang"]) == (0, None, "en")
    assert edith.post(state, "search", {"query": "  "}).json()["results"] == []
    for wrong in ("carrow.md#9", "carrow.md", "nowhere.md#0", "carrow.md#-1", "#", "carrow.md#١"):
        answered = edith.post(state, "article", {"item": "0", "title": wrong})
        assert answered.status_code == 404, wrong
    assert edith.post(state, "article", {"item": "9", "title": "carrow.md#1"}).status_code == 404


def test_a_search_that_does_not_work_says_so_and_keeps_the_work(
    asked: Collection, settings: Any, tmp_path: Path
) -> None:
    edith = Person("AEDITH", asked)
    state, _ = edith.enter("reading")
    settings.HOME = tmp_path / "elsewhere"
    answered = edith.post(state, "search", {"item": "0", "query": "harbour"})
    assert answered.status_code == 503
    assert "does not work just now" in answered.json()["message"]


def test_nobody_searches_for_what_they_have_asked_or_been_shown(collection: Collection) -> None:
    edith = Person("AEDITH", collection)
    # She reads the sets, writes nothing, and her time runs out.
    assert edith.enter("question")[0]["items"]
    Lease.objects.update(state=LeaseState.EXPIRED)
    Unit.objects.update(taken=0)
    ada = Person(WRITER, collection)
    assert ada.work("question") == 1
    look(collection)
    assert ada.enter("reading")[0] == {}
    assert edith.enter("reading")[0] == {}
    assert Person("AIDA", collection).enter("reading")[0]["items"]


def test_the_page_refuses_evidence_that_no_document_has(asked: Collection) -> None:
    edith = Person("AEDITH", asked)
    state, _ = edith.enter("reading")
    mark = {"document": "carrow.md", "paragraph": 9, "start": 0, "end": 3}
    answers = [
        {"item": item["id"], "type": "answer", "short": "x", "full": "y", "evidence": [mark]}
        for item in state["items"]
    ]
    refusal = edith.post(state, "submit", {"data": {"answers": answers}})
    assert refusal.status_code == 422
    assert {one["field"] for one in refusal.json()["problems"]} == {"evidence"}
    assert not Answer.objects.filter(stage__name="reading").exists()


@pytest.mark.django_db(databases=["default", "marketplace"])
def test_a_requester_tries_every_page_and_searches_before_anybody_works(
    collection: Collection, settings: Any
) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    rita = Client(HTTP_HOST="localhost")
    for stage in ("natural", "question", "find", "reading"):
        address = f"/collections/sought/preview/{stage}/"
        page = rita.get(f"{address}work/itself/").content.decode()
        assert json.loads(STATE.findall(page)[0])["items"], stage
        sent = {"item": "0", "query": "lighthouse Carrow"}
        answered = rita.post(f"{address}search/", sent, content_type="application/json")
        assert answered.status_code == (200 if stage in ("find", "reading") else 404), stage
    assert answered.json()["results"][0]["document"] == "carrow.md"
    wanted = {"item": "0", "title": "carrow.md#1"}
    opened = rita.post(f"{address}article/", wanted, content_type="application/json")
    assert opened.json()["title"] == "Carrow"
    settings.HOME = settings.HOME / "elsewhere"
    assert rita.post(f"{address}search/", sent, content_type="application/json").status_code == 503


def test_the_page_of_seeds_shows_every_passage_of_a_set_under_its_own_document(
    collection: Collection, settings: Any
) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    page = Client(HTTP_HOST="localhost").get("/collections/sought/seeds/").content.decode()
    assert "How the article begins" not in page
    seeds = collection.seeds.prefetch_related("seed_paragraphs__paragraph__article")
    rows = [row.paragraph for seed in seeds for row in seed.seed_paragraphs.all()]
    assert len(rows) > len(seeds)
    assert page.count('<article class="passage">') == len(rows)
    assert all(escape(row.text) in page for row in rows)
