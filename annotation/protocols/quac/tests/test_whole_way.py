"""From the sample corpus over sections, dialogs, validation and verdicts to a release."""

import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone

from annotation.decisions.by_hand import exclude_worker, include_again
from annotation.decisions.verdicts import decide_collection
from annotation.jobs import decide
from annotation.models import Verdict
from annotation.protocols.quac.tests.talking import Turn, make_dialog, seed_of
from annotation.release.tests.reference_readers import read_release
from annotation.replay.tests.test_acts import check_told
from annotation.reports.attention import attention_to, finishing_report
from collector.models import Collection, Seed
from collector.protocols.creation import parameters_of
from tasks import hits
from tasks.crowd import marketplace
from tasks.models import Answer, Exposure, Grant, Payment, Question, Topic, Unit, Worker
from tasks.people import qualifications
from tasks.tests.making import make_worker, name_qualification, stage_of, write_keys
from tasks.work import units
from tasks.work.passages import section_of
from tests.page_workers import Person, look, next_step, run

SAMPLE = Path(__file__).resolve().parents[4] / "deploy" / "sample" / "quarnsey.xml"
VALIDATORS = ("AEDITH", "AIDA", "AJON", "AHANNA")

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection(tmp_path: Path, settings: Any, monkeypatch: Any) -> Collection:
    """Return an open collection whose HITs go to a marketplace that accepts everything."""
    write_keys(tmp_path, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    monkeypatch.setattr("tasks.lifecycle.publication.call", lambda operation: {})
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **values: f"T {values['title']}")
    monkeypatch.setattr(marketplace, "create_hit", new_hit)
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
    call_command("ingest_dump", str(SAMPLE), corpus="quarnsey", licence="CC0 1.0")
    chosen = [
        "seeds.category_keywords=[]",
        "seeds.min_incoming_links=2",
        "splits={train = 4, dev = 1, test = 1}",
    ]
    run("create_collection", "talks", protocol="quac", corpus="quarnsey", budget=900.0, set=chosen)
    assert run("select_seeds", "talks", count=4) == {"train": 2, "dev": 1, "test": 1}
    run("publish", "talks")
    return Collection.objects.get(slug="talks")


def new_hit(type_id: str, *, token: str, lifetime: timedelta, page: str) -> marketplace.Hit:
    """Return a HIT whose id is as a marketplace gives them: letters and digits."""
    return marketplace.Hit("H" + token.replace("-", "").upper(), type_id)


def grant_all(collection: Collection) -> None:
    """Open the main tasks to everybody who has tried."""
    for grant in Grant.objects.filter(qualification__stage__collection=collection):
        qualifications.decide(grant, granted=True, note="", by="Rita", now=timezone.now())


def turns(seed: Seed, number: int) -> list[Turn]:
    """Return a dialog of so many turns about the section, the last one without an answer."""
    words = section_of(seed.pk).text.split()
    told: list[Turn] = [
        (
            f"What about {words[at * 9]}, number {at}?",
            " ".join(words[at * 9 : at * 9 + 7]),
            "neither",
            "maybe",
        )
        for at in range(number - 1)
    ]
    return [*told, ("Was there tea?", None, "neither", "dont")]


@pytest.fixture
def talked(collection: Collection) -> Collection:
    """Return it when every section has been talked about, one of them twice, and too briefly."""
    ada = make_worker("AADA")
    grace = make_worker("AGRACE", qualified=(stage_of(collection, "teacher_qualification"),))
    seeds = collection.seeds.filter(stage__name="dialog").order_by("position")
    for seed in seeds:
        make_dialog(seed, ada, grace, turns(seed, 4))
    train = seed_of(collection, "train")
    make_dialog(train, grace, ada, turns(train, 2), ordinal=1)
    return collection


def validate(collection: Collection) -> None:
    """Let everybody whose turn it is answer all dialogs again."""
    stage = stage_of(collection, "teacher_qualification")
    look(collection)
    for name in VALIDATORS:
        make_worker(name, qualified=(stage,))
        assert Person(name, collection).work("validation") == 2


def release(collection: Collection, folder: Path) -> dict[str, Any]:
    """Return what was printed of a release of all that is decided."""
    run("validate_answers", collection.slug)
    run("make_splits", collection.slug)
    return run("export_dataset", collection.slug, out=folder)


def dialogs(file: Path) -> list[dict[str, Any]]:
    """Return the dialogs of an official file."""
    return [one for each in json.loads(file.read_text())["data"] for one in each["paragraphs"]]


def test_it_runs_from_a_corpus_to_a_release(talked: Collection, tmp_path: Path) -> None:
    assert "All work is in." not in next_step(talked)
    validate(talked)
    run("validate_answers", talked.slug)
    # Everybody has talked; the dialogs were made without tickets.
    Topic.objects.update(taken=F("wanted"))
    look(talked)
    assert next_step(talked).startswith("All work is in.")
    counts = release(talked, tmp_path / "out")["counts"]
    assert counts["questions"] == {"train": 8, "dev": 4, "test": 4}
    assert (counts["dropped"], counts["waiting"], counts["votes"]) == (2, 0, 18 + 8 * 4)
    assert set(Verdict.objects.values_list("reason", flat=True)) == {
        "single_teacher",
        "validated",
        "short_dialog",
    }
    files = {name: dialogs(tmp_path / "out" / f"{name}_v0.2.json") for name in ("train", "val")}
    assert [len(one["qas"]) for one in files["train"]] == [4, 4]
    (dev,) = files["val"]
    assert [question["question"] for question in dev["qas"]] == [
        asked for asked, *_ in turns(seed_of(talked, "dev"), 4)
    ]
    check_told(talked, tmp_path / "told")
    read = read_release(tmp_path / "out", tmp_path / "cache")
    assert {split: len(rows) for split, rows in read.items()} == {"train": 8, "dev": 4, "test": 4}
    for turn, (row, question) in enumerate(zip(read["dev"], dev["qas"], strict=True)):
        assert (row["id"], row["dialog_id"], row["turn"]) == (question["id"], dev["id"], turn)
        assert row["context"] == dev["context"]
        assert (row["affirmation"], row["continuation"]) == (
            "neither",
            "dont" if turn == 3 else "maybe",
        )
        assert len(row["answers"]) == len(question["answers"])
        if row["answer_spans"]:
            (span,) = row["answer_spans"]
            assert row["context"][span["start"] : span["end"]] == question["orig_answer"]["text"]
    for question in dev["qas"]:
        assert len(question["answers"]) == 5
        assert question["answers"][-1] == question["orig_answer"]
        for answer in question["answers"]:
            start = answer["answer_start"]
            assert dev["context"][start:].startswith(answer["text"])


def test_every_label_is_in_the_parquet_file(talked: Collection, tmp_path: Path) -> None:
    from pyarrow import parquet

    validate(talked)
    release(talked, tmp_path / "out")
    rows = parquet.read_table(tmp_path / "out" / "votes.parquet").to_pylist()
    assert {row["stage"] for row in rows} == {"dialog", "validation"}
    more = [json.loads(row["answer_more"]) for row in rows]
    assert {acts["affirmation"] for acts in more} <= {"yes", "no", "neither"}
    teachers = [acts for row, acts in zip(rows, more, strict=True) if row["stage"] == "dialog"]
    assert {acts["continuation"] for acts in teachers} == {"maybe", "dont"}


def test_qualifications_are_passed_in_both_roles(collection: Collection) -> None:
    look(collection)
    ada = Person("AADA", collection)
    state, html = ada.enter("student_qualification")
    assert all(item["passage"]["about"] for item in state["items"])
    sections = Seed.objects.filter(stage__name="student_qualification")
    assert not any(section_of(seed.pk).text[:40] in html for seed in sections)
    assert ada.work("student_qualification") == 1
    grant_all(collection)
    look(collection)
    grace = Person("AGRACE", collection)
    state, _ = grace.enter("teacher_qualification")
    assert [step["teacher"] for step in state["ordered_answers"]] == [None]
    assert grace.work("teacher_qualification") == 1
    answers = Answer.objects.filter(stage__name="teacher_qualification")
    assert all(answer.payload["continuation"] for answer in answers)
    assert answers.count() == 3


def test_training_and_short_dialogs_are_not_validated(talked: Collection) -> None:
    look(talked)
    units = Unit.objects.filter(stage__name="validation")
    assert sorted(unit.items.count() for unit in units) == [4, 4]
    assert {unit.redundancy for unit in units} == {4}
    assert Question.objects.filter(seed__fold="train").count() == 10


def test_nobody_validates_a_section_they_have_seen(talked: Collection) -> None:
    look(talked)
    stage = stage_of(talked, "teacher_qualification")
    assert Person("AGRACE", talked).enter("validation")[0] == {}
    mallory = make_worker("AMALLORY", qualified=(stage,))
    seen = seed_of(talked, "dev")
    Exposure.objects.create(worker=mallory, seed=seen, kind="dialog", at=timezone.now())
    assert Person("AMALLORY", talked).work("validation") == 1
    validated = Answer.objects.filter(worker=mallory).values_list("question__seed__fold", flat=True)
    assert set(validated) == {"test"}


def test_no_answer_of_the_teacher_leaves_before_ones_own(talked: Collection) -> None:
    look(talked)
    make_worker("AEDITH", qualified=(stage_of(talked, "teacher_qualification"),))
    edith = Person("AEDITH", talked)
    state, html = edith.enter("validation")
    seed = Unit.objects.get(leases__worker__identity__person="AEDITH").items.first()
    assert seed is not None
    asked = [turn[0] for turn in turns(seed.the_question().seed, 4)]
    assert [step["question"] for step in state["ordered_answers"]] == asked[:1]
    assert not any(question in html for question in asked[1:])
    answer = {"type": "none", "spans": [], "affirmation": None}
    wrong = edith.post(state, "answer", {"item": "1", "answer": answer})
    assert (wrong.status_code, len(wrong.json()["ordered_answers"])) == (409, 1)
    bad = edith.post(state, "answer", {"item": "0", "answer": {}})
    assert bad.status_code == 422
    given = edith.post(state, "answer", {"item": "0", "answer": answer}).json()["ordered_answers"]
    assert given[0]["teacher"]["type"] == "span"
    assert given[1] == {"item": "1", "question": asked[1], "own": None, "teacher": None}
    words = {**given[0]["teacher"], "affirmation": "yes"}
    again = edith.post(state, "answer", {"item": "0", "answer": words}).json()["ordered_answers"]
    assert again[0]["own"]["type"] == "none"
    early = edith.post(state, "submit", {"data": {"answers": [words]}})
    assert early.status_code == 422
    assert edith.enter("validation")[0]["ordered_answers"] == given


def test_a_passage_longer_than_the_limit_is_refused(talked: Collection) -> None:
    look(talked)
    make_worker("AEDITH", qualified=(stage_of(talked, "teacher_qualification"),))
    edith = Person("AEDITH", talked)
    state, _ = edith.enter("validation")
    passage = state["items"][0]["passage"]
    text = passage["text"]
    tokens = [token for token in passage["tokens"] if token[2]]

    def marked(start: int, end: int) -> Any:
        span = {"document": "section", "start": start, "end": end, "text": text[start:end]}
        answer = {"type": "span", "spans": [span], "affirmation": "neither"}
        return edith.post(state, "answer", {"item": "0", "answer": answer})

    long = marked(tokens[0][0], tokens[30][1])
    assert long.json()["problems"][0]["message"] == ("The passage has 31 words: mark 30 or fewer.")
    assert marked(tokens[0][0] + 1, tokens[5][1]).status_code == 422
    assert marked(tokens[0][0], tokens[29][1]).status_code == 200


def test_a_teacher_who_withdraws_takes_the_dialog_along(talked: Collection) -> None:
    validate(talked)
    grace = Worker.objects.get(identity__person="AGRACE")
    grace.withdrawn_at = timezone.now()
    grace.save()
    run("validate_answers", talked.slug)
    assert not Verdict.objects.filter(outcome="kept", question__payload__dialog=0).exists()
    assert Payment.objects.filter(worker__identity__person="AEDITH").count() == 2


def go_round(collection: Collection) -> None:
    """Do what the jobs do in a round, verdicts and what is left out with it."""
    decide(collection)
    units.drop_left_out(collection, parameters_of(collection))
    look(collection)


@pytest.mark.parametrize("before", [True, False], ids=["before it is offered", "while it is"])
def test_nobody_is_asked_about_a_dialog_whose_teacher_is_left_out(
    talked: Collection, before: bool
) -> None:
    stage = stage_of(talked, "validation")
    grace = Worker.objects.get(identity__person="AGRACE")
    if not before:
        go_round(talked)
        assert hits.places_left(stage) == 2 * len(VALIDATORS)
    made = exclude_worker(talked, grace, "Careless.", "rita", timezone.now())
    go_round(talked)
    assert hits.places_left(stage) == 0
    told = Verdict.objects.values_list("outcome", "reason", "sentence")
    said = "One of the two people of this dialog is left out."
    assert set(told) == {("dropped", "writer_left_out", said)}
    assert attention_to([talked])[talked.pk].left_out == 0
    include_again(made, "She was not.", "rita", timezone.now())
    go_round(talked)
    assert hits.places_left(stage) == 2 * len(VALIDATORS)
    Worker.objects.filter(pk=grace.pk).update(withdrawn_at=timezone.now())
    go_round(talked)
    assert hits.places_left(stage) == 0
    assert not Verdict.objects.filter(outcome="waiting").exists()


def test_a_dialog_that_ends_after_its_teacher_was_left_out_waits_for_nobody(
    talked: Collection,
) -> None:
    ada, grace = (Worker.objects.get(identity__person=name) for name in ("AADA", "AGRACE"))
    exclude_worker(talked, grace, "Careless.", "rita", timezone.now())
    train = seed_of(talked, "train")
    make_dialog(train, ada, grace, turns(train, 4), ordinal=2)
    go_round(talked)
    asked = Question.objects.filter(payload__dialog=2)
    assert set(asked.values_list("verdict__reason", flat=True)) == {"writer_left_out"}
    assert finishing_report(talked).undecided == 0
    assert decide_collection(talked, timezone.now()) == 0


def test_the_release_is_scored_by_the_teacher_and_by_the_majority(
    talked: Collection, tmp_path: Path
) -> None:
    validate(talked)
    release(talked, tmp_path / "out")
    gold = tmp_path / "out" / "val_v0.2.json"
    lines = [
        {
            "qid": [question["id"] for question in dialog["qas"]],
            "best_span_str": [question["orig_answer"]["text"] for question in dialog["qas"]],
            "yesno": [question["yesno"] for question in dialog["qas"]],
            "followup": [question["followup"] for question in dialog["qas"]],
        }
        for dialog in dialogs(gold)
    ]
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text("\n".join(map(json.dumps, lines)))
    votes = tmp_path / "out" / "votes.parquet"
    scores = run("score", predictions, gold, protocol="quac", votes=votes)
    assert (scores["yes/no"], scores["followup"]) == (100.0, 100.0)
    assert scores["beside"]["followup, majority"] == 100.0
    assert scores["beside"]["yes/no, majority"] > 0
    assert 0 <= scores["beside"]["yes/no, people"] <= 100


def test_the_requesters_pages_show_sections_acts_and_what_came_before(
    talked: Collection, settings: Any
) -> None:
    validate(talked)
    run("validate_answers", "talks")
    settings.PASSWORDLESS_SIGN_IN = True
    rita = Client(HTTP_HOST="localhost")
    for page in ("", "seeds/", "questions/", "money/", "texts/dialog/", "report/", "releases/"):
        assert rita.get(f"/collections/talks/{page}").status_code == 200, page
    third = Question.objects.get(seed=seed_of(talked, "dev"), position=2)
    html = rita.get(f"/collections/talks/questions/{third.key}/").content.decode()
    shown = re.sub(r"<[^>]+>", "", html)
    assert unescape(shown).count(section_of(third.seed_id).text[-200:]) == 1
    assert "Asked before in this dialog" in html
    assert "Maybe follow up" in html
    first = Question.objects.get(seed=third.seed, position=0)
    assert unescape(shown).count(first.text) == 1
    seeds = rita.get("/collections/talks/seeds/").content.decode()
    assert unescape(re.sub(r"<[^>]+>", "", seeds)).count(section_of(third.seed_id).text) == 1
