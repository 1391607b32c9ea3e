"""Two releases compared: what came, went and changed, and why."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import SplitAssignment, Verdict
from annotation.protocols.iirc.tests.island import island
from annotation.protocols.rag.tests.records import question, seed, vote
from annotation.release.comparison import ANSWER, CAME, FURTHER, MOVED, WENT, Comparison, compare
from annotation.release.publish_release import publish_release
from annotation.release.row_tables import write_votes
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW, make_answer, make_question, make_verdict
from collector.models import Collection
from common.actions import ActionError
from tasks.models import Question

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection(settings: Any, tmp_path: Path) -> Collection:
    settings.RELEASES = tmp_path / "releases"
    made = island()
    make_splits(made, NOW)
    publish_release(made, None, NOW)
    return made


def compared(collection: Collection) -> Comparison:
    """Release what there is now, and compare it with the first release."""
    last = publish_release(collection, None, NOW)
    first = collection.releases.get(number=1)
    return compare(first.place, last.folder)


def told(found: Comparison) -> list[tuple[str, str, str, str, str]]:
    return [(one.question, one.kind, one.before, one.after, one.why) for one in found.changes]


def kept(collection: Collection, split: str) -> Question:
    return Question.objects.filter(
        stage__collection=collection, verdict__outcome="kept", split_assignment__split=split
    ).earliest("pk")


def test_the_same_release_has_changed_in_nothing(collection: Collection) -> None:
    found = compared(collection)
    assert found.changes == []
    sizes, reasons, settings, files = found.tables
    assert [row[1] == row[4] and row[2:4] == [0, 0] for row in sizes.rows] == [True] * 4
    assert reasons.note == "Every question stands as it stood."
    assert settings.note == "The settings are the same."
    assert files.rows == []
    assert files.note.endswith(" files are the same, byte for byte.")


def test_questions_that_came_went_and_moved_are_told_with_why(collection: Collection) -> None:
    seed = collection.seeds.get(fold="train")
    asked = make_question(seed, "Where does the ferry go to?")
    make_verdict(asked, make_answer(asked))
    make_splits(collection, NOW)
    gone = kept(collection, "test")
    Verdict.objects.filter(question=gone).update(outcome="dropped", reason="marked_bad")
    moved = kept(collection, "dev")
    SplitAssignment.objects.filter(question=moved).update(split="train", reason="moved by hand")
    found = compared(collection)
    assert sorted(told(found)) == sorted(
        [
            (asked.text, CAME, "", "train", "asked, or answered for the first time, since"),
            (gone.text, WENT, "test", "", "dropped (marked_bad)"),
            (moved.text, MOVED, "dev", "train", "moved by hand"),
        ]
    )
    assert [row[0] for row in found.tables[0].rows] == ["train", "dev", "test", "all"]
    sizes = {row[0]: list(row[1:]) for row in found.tables[0].rows}
    assert sizes["train"] == [2, 2, 0, 4]
    assert sizes["dev"] == [1, 0, 1, 0]
    assert sizes["all"] == [5, 1, 1, 5]


def test_another_answer_is_told_with_what_decided(collection: Collection) -> None:
    question = kept(collection, "train")
    other = make_answer(question, type="none", worker="walter")
    Verdict.objects.filter(question=question).update(chosen=other)
    (change,) = compared(collection).changes
    assert (change.question, change.kind) == (question.text, ANSWER)
    assert (change.after, change.why) == ("none", "more answers came")


def test_who_else_agrees_is_told_where_the_released_answer_stays(collection: Collection) -> None:
    question = kept(collection, "train")
    other = make_answer(question, type="none", worker="walter")
    verdict = Verdict.objects.get(question=question)
    Verdict.objects.filter(pk=verdict.pk).update(agreeing=[*verdict.agreeing, other.pk])
    (change,) = compared(collection).changes
    assert (change.question, change.kind) == (question.text, FURTHER)
    assert (change.before, change.after, change.why) == ("", "none", "more answers came")


@pytest.mark.parametrize(
    ("before", "after", "told_as"),
    [
        ({"short": "the harbour"}, {"short": "the light"}, [("the harbour", "the light")]),
        (
            {"fields": {"answer": "A keeper.", "doubt": ""}},
            {"fields": {"answer": "A pilot.", "doubt": "Hm."}},
            [("A keeper.", "A pilot.; Hm.")],
        ),
        (
            {"short": "the light", "searches": ["harbour"], "opened": [], "shown": 1},
            {"short": "the light", "searches": ["keeper"], "opened": ["a"], "shown": 2},
            [],
        ),
    ],
)
def test_answers_typed_are_told_in_their_words_and_how_they_were_found_is_none(
    before: dict[str, Any], after: dict[str, Any], told_as: list[tuple[str, str]], tmp_path: Path
) -> None:
    folders = []
    for payload in (before, after):
        folder = tmp_path / str(len(folders))
        folder.mkdir()
        asked = question("Where?", {**vote("answer"), "payload": payload, "chosen": True}, id="1")
        write_votes(folder / "votes.parquet", [seed(asked)])
        (folder / "manifest.json").write_text('{"protocol": "x", "parameters": {}, "files": {}}')
        folders.append(folder)
    changes = compare(*folders).changes
    assert [(change.before, change.after) for change in changes] == told_as


def test_changed_settings_are_told(collection: Collection) -> None:
    Collection.objects.filter(pk=collection.pk).update(
        parameters={
            **collection.parameters,
            "agreement": {**collection.parameters["agreement"], "max_bad": 9},
        }
    )
    collection.refresh_from_db()
    rows = {row[0]: row[1:3] for row in compared(collection).tables[2].rows}
    assert rows["agreement.max_bad"][1] == "9"


def test_the_command_prints_tables_and_writes_a_line_a_change(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = kept(collection, "test")
    Verdict.objects.filter(question=gone).update(outcome="dropped", reason="marked_bad")
    last = publish_release(collection, None, NOW).folder
    first = collection.releases.get(number=1).place
    lines = tmp_path / "changes.csv"
    call_command("compare_releases", first, str(last), "--csv", str(lines))
    assert "in the dataset before and not now" in capsys.readouterr().out
    (row,) = csv.DictReader(lines.open(newline="", encoding="utf-8"))
    assert (row["question"], row["kind"]) == (gone.text, WENT)
    with pytest.raises(CommandError, match="name a new file with --csv"):
        call_command("compare_releases", first, str(last), "--csv", str(lines))
    call_command("compare_releases", first, str(last), "--json")
    assert json.loads(capsys.readouterr().out)["questions"][0]["kind"] == WENT


def test_what_is_no_release_is_refused(collection: Collection, tmp_path: Path) -> None:
    first = collection.releases.get(number=1).place
    with pytest.raises(ActionError, match="it holds no release"):
        compare(first, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    manifest = json.loads((first / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps({**manifest, "protocol": "other"}))
    with pytest.raises(ActionError, match="only releases of one protocol can be compared"):
        compare(first, other)
    (other / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ActionError, match="it cannot be read"):
        compare(first, other)
    (other / "votes.parquet").write_bytes(b"no columns")
    with pytest.raises(ActionError, match="it cannot be read"):
        compare(first, other)
