"""SQuAD runs from a corpus to a release: one asks, others answer what is of dev and test again."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Verdict
from annotation.protocols.squad.tests.conftest import WRITER, publish_small
from annotation.release.tests.reference_readers import read_release
from annotation.replay.tests.test_acts import check_told
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from tasks.models import Answer, Lease, Question, Unit
from tasks.paying.compensation import worth_cents
from tasks.simulation.behaviour import DILIGENT
from tasks.simulation.simulated_contract import SIMULATED
from tasks.tests.making import make_corpus
from tasks.work.kinds import span
from tasks.work.kinds.registry import kind_of
from tasks.work.units import is_over
from tests.page_workers import Person, look, next_step, run

pytestmark = pytest.mark.django_db
FILES = {split: f"{split}-v2.0.json" for split in ("train", "dev", "test")}


def test_a_hit_of_fewer_passages_than_others_is_worth_its_whole_reward_once_all_is_saved(
    tmp_path: Path, settings: Any, monkeypatch: Any
) -> None:
    folder = tmp_path, settings, monkeypatch
    short = publish_small(make_corpus().slug, 3, *folder, "question.items_per_hit=5")
    ada = Person(WRITER, short)
    state, _ = ada.enter("question")
    data = get_protocol("squad").part(SIMULATED).fill(state, DILIGENT, ada.rng, lambda *_: None)
    reply = ada.post(state, "draft", {"version": 0, "draft": {"data": data}})
    assert reply.json()["problems"] == []
    lease = Lease.objects.get()
    assert lease.unit.items.count() == 3
    assert worth_cents(lease) == lease.session.posting.reward_cents == 160


def answer_as(types: dict[str, str], collection: Collection, name: str) -> int:
    """Let somebody answer all that they find, questions in `types` by a type of answer."""

    def change(state: dict[str, Any], data: dict[str, Any]) -> None:
        for item, answer in zip(state["items"], data["answers"], strict=True):
            if item["question"] in types:
                answer |= {"type": types[item["question"]], "spans": [], "reason": "It is odd."}

    return Person(name, collection).work("answer", change)


def release(collection: Collection, folder: Path) -> dict[str, Any]:
    """Return the official files of a release of all that is decided, by split."""
    run("validate_answers", collection.slug)
    run("make_splits", collection.slug)
    run("export_dataset", collection.slug, out=folder)
    return {split: json.loads((folder / name).read_text("utf-8")) for split, name in FILES.items()}


def questions_of(file: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return every question of an official file with its context."""
    return [
        (question, paragraph["context"])
        for article in file["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


def test_it_runs_from_a_corpus_to_a_release(asked: Collection, tmp_path: Path) -> None:
    rows = Question.objects.filter(seed__fold__in=["dev", "test"]).order_by("pk")
    found, lost = (row.text for row in rows.filter(answers__type="span")[:2])
    unfound = rows.filter(answers__type="none")[0].text
    assert answer_as({lost: "none"}, asked, "AEDITH") == 4
    assert answer_as({found: "none", lost: "none", unfound: "bad"}, asked, "AIDA") == 4
    run("validate_answers", asked.slug)
    assert next_step(asked).startswith("All work is in.")
    files = release(asked, tmp_path / "out")
    released = {split: questions_of(file) for split, file in files.items()}
    assert sum(map(len, released.values())) == Verdict.objects.filter(outcome="kept").count()
    check_told(asked, tmp_path / "told")
    read = read_release(tmp_path / "out", tmp_path / "cache")
    for split, rows in read.items():
        for row, (question, context) in zip(rows, released[split], strict=True):
            assert (row["id"], row["passages"][0]["text"]) == (question["id"], context)
            assert row["is_impossible"] == question["is_impossible"]
            plausible = question.get("plausible_answers", [])
            assert len(row["plausible_answers"]) == len(plausible)
            assert [mark["start"] for mark in row["answer_spans"]] == [
                mark["answer_start"] for mark in question["answers"][:1]
            ]
    assert len(released["train"]) == 4
    for question, context in (pair for pairs in released.values() for pair in pairs):
        assert question["is_impossible"] is not bool(question["answers"])
        marks = question["answers"] or question["plausible_answers"]
        assert marks
        for mark in marks:
            start = mark["answer_start"]
            assert context[start : start + len(mark["text"])] == mark["text"]
    assert {len(question["answers"]) for question, _ in released["train"]} == {0, 1}
    again = [question for split in ("dev", "test") for question, _ in released[split]]
    assert {len(question["answers"]) for question in again} == {0, 2, 3}
    # One of two others did not find it: two of three still say the same.
    assert len(next(one for one in again if one["question"] == found)["answers"]) == 2
    assert unfound in {question["question"] for question in again}
    assert Verdict.objects.get(question__text=lost).reason == "not_found_by_others"
    assert lost not in {question["question"] for question in again}


def test_what_is_released_is_read_back_and_released_again(
    asked: Collection, tmp_path: Path
) -> None:
    for name in ("AEDITH", "AIDA"):
        answer_as({}, asked, name)
    release(asked, tmp_path / "out")
    given = [str(tmp_path / "out" / name) for name in FILES.values()]
    counts = run("import_dataset", "old", *given, protocol="squad")["questions"]
    assert sum(counts.values()) == Verdict.objects.filter(outcome="kept").count() / 2
    run("export_dataset", "old", out=tmp_path / "again")
    for name in FILES.values():
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_others_are_asked_about_dev_and_test_alone_and_told_nothing_of_what_was_marked(
    asked: Collection,
) -> None:
    state, _ = Person("AEDITH", asked).enter("answer")
    told = {"id", "question", "form", "paragraphs"}
    assert all(set(item) == told for item in state["items"])
    assert "plausible" not in json.dumps(state)
    units = Unit.objects.filter(stage__name="answer")
    shown = Question.objects.filter(pk__in=units.values("items__question"))
    assert {question.seed.fold for question in shown} == {"dev", "test"}
    assert shown.count() == 8
    # Those of training wait for nobody: the stage is over once the others are answered.
    for name in ("AEDITH", "AIDA"):
        answer_as({}, asked, name)
    assert is_over(asked.stages.get(name="answer"), parameters_of(asked))


def test_questions_about_one_passage_are_shown_in_an_order_that_tells_nothing() -> None:
    firsts = [span.shuffled(list("abcde"), f"{unit}:0")[0] for unit in range(40)]
    assert set(firsts) == set("abcde")


def test_questions_are_shown_in_the_same_order_when_the_work_is_done_again(
    asked: Collection,
) -> None:
    unit = Unit.objects.filter(stage__name="answer").order_by("pk")[0]
    items = list(unit.items.order_by("position"))
    orders = []
    for number in range(6):
        unit.pk, unit.position = None, 100 + number
        unit.save()
        for item in items:
            item.pk, item.unit = None, unit
            item.save()
        orders.append([item["question"] for item in kind_of(unit.stage).page_items(unit)])
    assert len(orders[0]) == 2
    assert orders == [orders[0]] * 6


def test_nobody_answers_their_own_question_or_asks_about_what_they_have_answered(
    collection: Collection,
) -> None:
    ada = Person(WRITER, collection)
    ada.work("question")
    look(collection)
    assert ada.enter("answer")[0] == {}
    edith = Person("AEDITH", collection)
    assert edith.work("answer") == 4
    run("select_seeds", collection.slug, count=1)
    look(collection)
    assert len(edith.enter("question")[0]["items"]) == 2


def test_the_page_refuses_a_question_without_a_mark_and_one_asked_twice(
    collection: Collection,
) -> None:
    ada = Person(WRITER, collection)
    state, _ = ada.enter("question")
    assert [item["type"] for item in state["items"]] == ["span", "none"]
    ids = [item["id"] for item in state["items"]]
    entries = [{"item": one, "text": "Who founded this place?"} for one in ids]
    refused = ada.post(state, "submit", {"data": {"questions": entries}})
    assert refused.status_code == 422
    assert {(one["index"], one["field"]) for one in refused.json()["problems"]} == {
        (0, "answer"),
        (1, "text"),
        (1, "answer"),
    }
    assert not Question.objects.exists()


def test_the_requesters_pages_show_what_was_marked(asked: Collection, settings: Any) -> None:
    for name in ("AEDITH", "AIDA"):
        answer_as({}, asked, name)
    run("validate_answers", asked.slug)
    settings.PASSWORDLESS_SIGN_IN = True
    rita = Client(HTTP_HOST="localhost")
    for page in ("", "now/", "seeds/", "questions/", "money/", "texts/question/", "report/"):
        assert rita.get(f"/collections/marked/{page}").status_code == 200, page
    plausible = Answer.objects.filter(type="none", question__verdict__outcome="kept")[0]
    page = rita.get(f"/collections/marked/questions/{plausible.question.key}/").content.decode()
    assert "though it looks like" in page
    assert "mark-evidence" in page
