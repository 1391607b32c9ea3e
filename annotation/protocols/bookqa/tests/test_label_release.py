"""What two labellers differ about is decided by one key, and a release tells all of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.html import escape
from pyarrow import parquet

from annotation.dashboard.tests.making import make_browser, send
from annotation.decisions.by_hand import decide_labels, exclude_worker
from annotation.decisions.records import pseudonym
from annotation.models import Exclusion, Verdict
from annotation.protocols.bookqa.export import question_ids
from annotation.protocols.bookqa.tests.making import rows
from annotation.protocols.bookqa.tests.test_labelling import LABELLERS, begin
from annotation.replay.read_log import read_log
from annotation.replay.remake_release import decide_again
from annotation.replay.tests.test_acts import check_told
from collector.ingest.licences import CLOSED
from collector.models import Collection, Corpus
from collector.models.accounts import owner
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from tasks.models import Answer, Question, Worker
from tasks.tests.making import NOW, make_worker, stage_of
from tests.page_workers import Person, run

pytestmark = pytest.mark.django_db
PAGE = "/collections/stories/questions/"
LABELS = {
    "AFAY": {"question_type": "causal", "answer_unit": "expression", "note": "Why is asked."},
    "AGIL": {"question_type": "causal", "answer_unit": "state", "note": ""},
}


@pytest.fixture
def labelled(collected: Collection) -> Collection:
    """Return it when two have labelled, who differ in the answer's unit and in nothing else."""
    begin(collected)
    for name in LABELLERS:

        def choose(state: dict[str, Any], data: dict[str, Any], name: str = name) -> None:
            for entry in data["entries"]:
                entry["fields"] = dict(LABELS[name])

        Person(name, collected).work("label", choose)
    return collected


@pytest.fixture
def rita(settings: Any) -> Client:
    """Return a requester's browser."""
    settings.PASSWORDLESS_SIGN_IN = True
    browser = make_browser()
    browser.force_login(owner())
    return browser


def by_two(collection: Collection) -> list[Question]:
    """Return the questions that two have labelled."""
    labels = Answer.objects.filter(stage=stage_of(collection, "label"), corrected_by="")
    pairs = [each.question_id for each in labels]
    return list(Question.objects.filter(pk__in={pk for pk in pairs if pairs.count(pk) == 2}))


def released_id(question: Question) -> str:
    """Return the id that follows from the question's row in qaps.csv."""
    (key,) = question_ids([(question.seed.payload["document_id"], question.text)])
    return key


def decide(
    collection: Collection, question: Question, name: str, why: str = "It is one."
) -> Answer:
    """Return the decision that somebody's labels hold."""
    label = question.answers.get(worker__identity__person=name, stage__name="label")
    return decide_labels(question, label, why, "rita", NOW, parameters_of(collection))


def release(collection: Collection, folder: Path) -> Path:
    """Return the folder of a release."""
    run("make_splits", collection.slug)
    run("export_dataset", collection.slug, out=folder)
    return folder


def test_one_key_decides_between_two_labellers_and_the_verdict_stays(
    labelled: Collection, rita: Client
) -> None:
    differing = by_two(labelled)
    verdicts = list(Verdict.objects.order_by("pk").values())
    listed = rita.get(f"{PAGE}?outcome=labels").content.decode()
    assert f"Labels to decide <span>{len(differing)}</span>" in listed
    for page in (f"/collections/{labelled.slug}/", "/collections/"):
        waiting = " ".join(rita.get(page).content.decode().split())
        assert re.search(rf"\b{len(differing)} questions? whose labels differ", waiting)
    first = min(differing, key=lambda question: question.pk)
    page = rita.get(f"{PAGE}{first.key}/?outcome=labels").content.decode()
    # The second answer is A; only the labels below it can be taken.
    assert 'data-key="a"' not in page
    assert 'data-key="b"' in page
    assert 'data-key="c"' in page
    assert 'data-key="0"' not in page
    address = f"{PAGE}{first.key}/override/?outcome=labels"
    send(rita, f"{PAGE}{first.key}/?outcome=labels", address, {"by_key": "1", "labels": "B"})
    left = rita.get(f"{PAGE}?outcome=labels").content.decode()
    assert f"Labels to decide <span>{len(differing) - 1}</span>" in left
    assert list(Verdict.objects.order_by("pk").values()) == verdicts
    told = rita.get(f"{PAGE}{first.key}/").content.decode()
    assert "Labels decided by reviewers" in told
    assert "These labels hold" in told
    assert "Adjudicated: the votes differed." in told


def test_decided_labels_are_in_the_log_and_decided_again(
    labelled: Collection, tmp_path: Path
) -> None:
    question, *_ = by_two(labelled)
    for name in ("AFAY", "AGIL"):
        decide(labelled, question, name)
    labeller = question.answers.get(worker__identity__person="AGIL", corrected_by="").worker
    exclude_worker(labelled, labeller, "Copied.", "rita", NOW)
    run("make_splits", labelled.slug)
    run("export_dataset", labelled.slug, out=tmp_path / "out", log=tmp_path / "log")
    log = read_log(tmp_path / "log")
    assert [line.name for line in log.acts] == ["labels", "labels", "exclusion"]
    decisions = Answer.objects.exclude(corrected_by="")
    told = list(decisions.order_by("pk").values_list("type", "payload", "corrected_by"))
    decisions.delete()
    Exclusion.objects.all().delete()
    decide_again(labelled, log, NOW)
    assert list(decisions.order_by("pk").values_list("type", "payload", "corrected_by")) == told
    check_told(labelled, tmp_path / "again")


def test_where_nothing_is_labelled_nobody_is_asked_to_decide(
    collected: Collection, rita: Client
) -> None:
    assert "Labels to decide <span>0</span>" in rita.get(PAGE).content.decode()


def test_a_letter_that_is_no_label_decides_nothing(labelled: Collection, rita: Client) -> None:
    question = by_two(labelled)[0]
    for letter in ("A", "Z"):
        address = f"{PAGE}{question.key}/override/?outcome=labels"
        page = f"{PAGE}{question.key}/?outcome=labels"
        reply = send(rita, page, address, {"by_key": "1", "labels": letter}, follow=True)
        assert "Choose one of this question" in reply.content.decode()
    assert not Answer.objects.exclude(corrected_by="").exists()


def test_a_decision_needs_a_reason(labelled: Collection) -> None:
    with pytest.raises(ActionError, match="Say in the note why"):
        decide(labelled, by_two(labelled)[0], "AFAY", why=" ")


def test_withdrawn_labels_cannot_be_decided_on(labelled: Collection) -> None:
    Worker.objects.filter(identity__person="AGIL").update(withdrawn_at=NOW)
    with pytest.raises(ActionError, match="has withdrawn"):
        decide(labelled, by_two(labelled)[0], "AGIL")
    assert not Answer.objects.exclude(corrected_by="").exists()


def test_a_decision_is_asked_for_again_when_its_labels_are_withdrawn(
    labelled: Collection, rita: Client, tmp_path: Path
) -> None:
    question, *others = by_two(labelled)
    Answer.objects.create(
        question=question,
        stage=stage_of(labelled, "label"),
        worker=make_worker("AIVY"),
        type="causal",
        payload={"fields": {**LABELS["AGIL"], "answer_unit": "entity"}},
        created_at=NOW,
    )
    decide(labelled, question, "AGIL", why="First thought.")
    decide(labelled, question, "AFAY", why="An event.")
    assert f"Labels to decide <span>{len(others)}</span>" in rita.get(PAGE).content.decode()
    Worker.objects.filter(identity__person="AFAY").update(withdrawn_at=NOW)
    # Of the others' questions one label is left, which nobody disputes.
    assert "Labels to decide <span>1</span>" in rita.get(PAGE).content.decode()
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert "the decision does not hold" in page
    assert "These labels hold" not in page
    folder = release(labelled, tmp_path / "out")
    held = {row["id"]: row for row in rows(folder / "labels.csv")}[released_id(question)]
    assert (held["answer_unit"], held["labellers"], held["decided_by"]) == ("", "2", "draw")
    assert "An event." not in (folder / "label_votes.csv").read_text("utf-8")


def test_who_is_left_out_differs_from_nobody(labelled: Collection, rita: Client) -> None:
    gil = Answer.objects.filter(worker__identity__person="AGIL").first()
    assert gil is not None
    assert gil.worker is not None
    exclude_worker(labelled, gil.worker, "Guesses.", "rita", NOW)
    assert "Labels to decide <span>0</span>" in rita.get(PAGE).content.decode()


def test_a_release_tells_which_labels_hold_and_every_one_that_was_given(
    labelled: Collection, tmp_path: Path
) -> None:
    questions = by_two(labelled)
    decide(labelled, questions[0], "AGIL", why="First thought.")
    decide(labelled, questions[0], "AFAY", why="An event.")
    folder = release(labelled, tmp_path / "out")
    held = {row["id"]: row for row in rows(folder / "labels.csv")}
    assert len(held) == 3
    by_id = {released_id(question): question for question in Question.objects.all()}
    for key, row in held.items():
        question = by_id[key]
        assert row["question"] == question.text
        assert row["answer"] == question.payload["fields"]["answer"]
        other = question.answers.get(stage__name="answer")
        assert row["second_answer"] == other.payload["fields"]["answer"]
        assert (row["question_type"], row["question_group"]) == ("causal", "Event relation")
    decided = held[released_id(questions[0])]
    assert (decided["answer_unit"], decided["answer_class"]) == ("expression", "Event")
    assert (decided["labellers"], decided["decided_by"]) == ("2", "adjudication")
    for question in questions[1:]:
        row = held[released_id(question)]
        assert (row["answer_unit"], row["decided_by"]) == ("", "draw")
    assert {row["decided_by"] for row in held.values()} >= {"one labeller"}

    given = rows(folder / "label_votes.csv")
    people = [row for row in given if not row["adjudicated"]]
    assert (
        len(people)
        == Answer.objects.filter(stage=stage_of(labelled, "label"), corrected_by="").count()
    )
    fay = Answer.objects.filter(worker__identity__person="AFAY").first()
    assert fay is not None
    who = pseudonym(labelled.pseudonym_key, str(fay.worker_id))
    assert {row["more"] for row in people if row["worker"] == who} == {"Why is asked."}
    (decision,) = [row for row in given if row["adjudicated"]]
    assert (decision["worker"], decision["more"]) == ("", "An event.")
    assert {row["simulated"] for row in given} == {""}


def test_labels_are_no_answers_and_who_asked_gave_the_first(
    labelled: Collection, tmp_path: Path
) -> None:
    folder = release(labelled, tmp_path / "out")
    asked = {row["question"]: row for row in rows(folder / "qaps.csv")}
    told = [
        row
        for path in folder.glob("questions-*.parquet")
        for row in parquet.read_table(path).to_pylist()
    ]
    assert len(told) == len(asked)
    for row in told:
        own = asked[row["question"]]
        assert [one["text"] for one in row["answers"]] == [own["answer1"], own["answer2"]]
        assert all(one["worker"] for one in row["answers"])


def test_the_card_names_the_files_and_the_metadata_are_valid(
    labelled: Collection, tmp_path: Path
) -> None:
    import mlcroissant

    folder = release(labelled, tmp_path / "out")
    card = (folder / "README.md").read_text("utf-8")
    assert "* `labels.csv`: the labels of each question that hold" in card
    assert "* `label_votes.csv`: every label that was given" in card
    assert "2 for 50 % of the HITs" in card
    metadata = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert metadata.metadata.issues.errors == set()
    names = {file.id for file in metadata.metadata.distribution}
    assert {"labels.csv", "label_votes.csv"} <= names


def test_a_release_without_labels_has_no_such_files(collected: Collection, tmp_path: Path) -> None:
    run("validate_answers", "stories")
    folder = release(collected, tmp_path / "out")
    assert not list(folder.glob("label*"))


def test_simulated_labels_are_marked_and_never_stand_for_people_s(
    labelled: Collection, tmp_path: Path
) -> None:
    fay = Answer.objects.filter(worker__identity__person="AFAY", stage__name="label")
    fay.update(synthetic=True)
    folder = release(labelled, tmp_path / "out")
    marked = {row["simulated"] for row in rows(folder / "label_votes.csv")}
    assert marked == {"", "yes"}
    alone = {released_id(each.question) for each in fay} - set(map(released_id, by_two(labelled)))
    for row in rows(folder / "labels.csv"):
        assert row["simulated"] == ("yes" if row["id"] in alone else "")
        assert row["labellers"] == "1"


def test_labels_that_hold_break_scores_down(labelled: Collection, tmp_path: Path) -> None:
    for question in by_two(labelled):
        decide(labelled, question, "AFAY")
    folder = release(labelled, tmp_path / "out")
    keys = [row["id"] for row in rows(folder / "labels.csv")]
    for name, value in (("gold", ["the key"]), ("found", "the key")):
        (tmp_path / f"{name}.json").write_text(json.dumps(dict.fromkeys(keys, value)))
    found = run(
        "score",
        tmp_path / "found.json",
        tmp_path / "gold.json",
        protocol="bookqa",
        labels=folder / "labels.csv",
    )
    assert "question type: causal" in json.dumps(found)


def test_a_release_s_labels_fit_its_own_table_of_questions_ties_and_all(
    labelled: Collection, tmp_path: Path
) -> None:
    folder = release(labelled, tmp_path / "out")
    given = rows(folder / "labels.csv")
    tied = [row for row in given if row["decided_by"] == "draw"]
    answers = {row["id"]: row["second_answer"] for row in given}
    (tmp_path / "found.json").write_text(json.dumps(answers), "utf-8")

    found = run(
        "score",
        tmp_path / "found.json",
        folder / "qaps.csv",
        protocol="bookqa",
        labels=folder / "labels.csv",
    )["by"]

    assert tied
    assert found["question type: causal"]["questions"] == len(given)
    assert found["question type: causal"]["EM"] == 1
    run("report", "stories", figure=tmp_path / "flow.svg")
    shares = {row[0]: row[-1] for row in run("report", "stories")["question_group"]["rows"]}
    # The paper's beside those of what the stage brought.
    assert shares == {
        "Concept": 0.23,
        "Event argument": 0.335,
        "Event relation": 0.406,
        "Global": 0.029,
    }
    assert 'aria-label="From question type to answer unit' in (tmp_path / "flow.svg").read_text()
    units = [each["questions"] for name, each in found.items() if name.startswith("answer unit: ")]
    assert sum(units) == len(given) - len(tied)


def test_ranking_files_that_were_kept_are_in_the_release(
    collected: Collection, tmp_path: Path, settings: Any
) -> None:
    settings.RANKINGS = tmp_path / "rankings"
    run("validate_answers", "stories")
    for _ in range(2):
        # Kept anew, they take the place of those before.
        found = run("rank_passages", "mill", protocol="bookqa", keep=True)
    folder = release(collected, tmp_path / "out")
    assert found["written"]
    for name, number in found["written"].items():
        assert len((folder / name).read_text("utf-8").splitlines()) == number
        assert f"* `{name}`: " in (folder / "README.md").read_text("utf-8")
        assert name in (folder / "croissant.json").read_text("utf-8")
    assert [path.name for path in settings.RANKINGS.iterdir()] == ["bookqa-mill"]
    call_command("rank_passages", "mill", protocol="bookqa", keep=True, out=tmp_path / "beside")
    assert (tmp_path / "beside" / "passages.jsonl").is_file()
    # They hold the books word for word: of closed books they are no public files.
    Corpus.objects.update(licence_name=CLOSED)
    folder = release(collected, tmp_path / "closed")
    for name in found["written"]:
        assert not (folder / name).exists()
        assert name not in (folder / "README.md").read_text("utf-8")
        assert (tmp_path / "closed-private" / name).is_file()


def test_a_requester_reads_both_answers_each_by_its_name(
    collected: Collection, rita: Client
) -> None:
    run("validate_answers", "stories")
    for question in Question.objects.all():
        (other,) = question.answers.all()
        page = rita.get(f"{PAGE}{question.key}/").content.decode()
        own = question.payload["fields"]["answer"]
        assert f'<dt>Writer\'s answer</dt><dd dir="auto">{escape(own)}</dd>' in page
        words = other.payload["fields"]["answer"]
        if not other.payload["fields"]["doubt"]:
            assert f'<p class="answer-text" dir="auto">{escape(words)}</p>' in page
    listed = rita.get(PAGE).content.decode()
    assert "answer: " not in listed
    assert "In free words" in listed
