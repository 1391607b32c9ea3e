"""A release is whole, frozen and the same for the same rows; it is written once or not at all."""

import json
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from annotation.decisions.by_hand import exclude_worker
from annotation.decisions.records import pseudonym
from annotation.decisions.verdicts import decide_collection
from annotation.models import Release, Verdict
from annotation.protocols.iirc.tests.island import island
from annotation.release import publish_release as publishing
from annotation.release.facts import not_said
from annotation.release.publish_release import publish_release, reconcile
from annotation.release.release_folder import digests, folder_beside, left_behind
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW, make_answer, make_question, make_verdict
from collector.models import Collection, Corpus
from common.actions import ActionError
from tasks.models import Answer, Lease, Question, Session, Submission, Worker

pytestmark = pytest.mark.django_db
FILES = {
    "ATTRIBUTION.csv",
    "LICENSE",
    "README.md",
    "SHA256SUMS",
    "assignments.jsonl",
    "context_articles.json",
    "croissant.json",
    "questions-dev.parquet",
    "questions-test.parquet",
    "questions-train.parquet",
    "dev.json",
    "manifest.json",
    "test.json",
    "train.json",
    "votes.parquet",
}


@pytest.fixture
def collection() -> Collection:
    """Return a decided and placed collection."""
    made = island()
    make_splits(made, NOW)
    return made


def contents(folder: Path) -> dict[str, bytes]:
    """Return the folder's files, the tables of its report under their folder's name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def change(collection: Collection) -> None:
    """Keep one more question."""
    seed = collection.seeds.get(fold="train")
    asked = make_question(seed, "Where does the ferry go to?")
    make_verdict(asked, make_answer(asked))
    make_splits(collection, NOW)


def test_the_folder_holds_every_file_with_true_checksums(
    collection: Collection, tmp_path: Path
) -> None:
    issued = publish_release(collection, tmp_path / "out", NOW)
    assert issued.is_new
    tables = {name for name in contents(issued.folder) if name.startswith("tables/")}
    assert {"tables/types.csv", "tables/types.svg", "tables/pay.csv"} <= tables
    assert set(contents(issued.folder)) == FILES | tables
    checked = subprocess.run(
        ["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=issued.folder, capture_output=True
    )
    assert checked.returncode == 0, checked.stderr
    assert set(issued.release.manifest) == (FILES | tables) - {"SHA256SUMS"}
    assert issued.release.counts == {
        "questions": {"train": 2, "dev": 1, "test": 2},
        "dropped": 2,
        "waiting": 1,
        "votes": 15,
        "simulated": "",
        "not_said": not_said({}),
    }
    assert list(tmp_path.iterdir()) == [issued.folder]


def test_the_same_rows_give_the_same_bytes_whenever_they_are_written(
    collection: Collection, tmp_path: Path
) -> None:
    first = publish_release(collection, tmp_path / "one", NOW)
    second = publish_release(collection, tmp_path / "two", NOW + timedelta(days=400))
    assert contents(first.folder) == contents(second.folder)
    assert not second.is_new
    assert second.release == first.release
    assert Release.objects.count() == 1


def test_equal_rows_with_other_ids_give_the_same_bytes(
    collection: Collection, tmp_path: Path
) -> None:
    first = publish_release(collection, tmp_path / "one", NOW)
    for model in (Release, Answer, Question, Submission, Lease, Session, Collection, Corpus):
        if model is Answer:
            Verdict.objects.all().delete()
        model.objects.all().delete()
    again = island()
    make_splits(again, NOW)
    assert again.pk != collection.pk
    assert contents(publish_release(again, tmp_path / "two", NOW).folder) == contents(first.folder)


def test_no_identity_and_no_key_is_released(collection: Collection, tmp_path: Path) -> None:
    folder = publish_release(collection, tmp_path / "out", NOW).folder
    for name in ("grace", "mallory", "hedy", "kkkk", "rita@"):
        for content in contents(folder).values():
            assert name.encode() not in content


def test_an_issued_folder_is_found_again_and_never_changed(
    collection: Collection, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    publish_release(collection, out, NOW)
    before = contents(out)
    assert not publish_release(collection, out, NOW).is_new
    change(collection)
    with pytest.raises(ActionError, match="never changed; name another folder with --out"):
        publish_release(collection, out, NOW)
    assert contents(out) == before
    assert list(tmp_path.iterdir()) == [out]


def test_a_changed_collection_gets_the_next_number_and_names_what_it_supersedes(
    collection: Collection, tmp_path: Path, settings: Any
) -> None:
    settings.RELEASES = tmp_path / "releases"
    first = publish_release(collection, None, NOW)
    change(collection)
    second = publish_release(collection, None, NOW)
    assert first.folder == tmp_path / "releases" / "pilot"
    assert second.folder == tmp_path / "releases" / "pilot-2"
    assert (second.release.number, second.release.supersedes) == (2, first.release)
    assert not publish_release(collection, None, NOW).is_new


def test_of_two_releases_at_once_neither_names_the_others_folder(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(*given: Any, **fixed: bool) -> Path:
        monkeypatch.undo()
        target = publishing._place(*given, **fixed)
        change(collection)
        publish_release(collection, tmp_path / "pilot", NOW)
        return target

    monkeypatch.setattr(publishing, "_place", meanwhile)
    with pytest.raises(ActionError, match="made meanwhile: make this one again"):
        publish_release(collection, tmp_path / "pilot", NOW)
    assert list(tmp_path.iterdir()) == [tmp_path / "pilot"]
    assert digests(tmp_path / "pilot") == Release.objects.get().manifest


@pytest.fixture
def moved(collection: Collection, tmp_path: Path, settings: Any) -> list[Release]:
    """Return releases beside the code, in the home and elsewhere; then the first two were moved."""
    settings.RELEASES, settings.HOME = tmp_path / "code" / "releases", tmp_path / "home"
    publish_release(collection, None, NOW)
    for place in (settings.HOME / "releases" / "pilot", tmp_path / "elsewhere"):
        change(collection)
        publish_release(collection, place, NOW)
    for base in ("code", "home"):
        (tmp_path / base).rename(tmp_path / f"{base}-moved")
    settings.RELEASES = tmp_path / "code-moved" / "releases"
    settings.HOME = tmp_path / "home-moved"
    return list(Release.objects.order_by("number"))


def test_releases_are_found_where_home_and_releases_were_moved_to(moved: list[Release]) -> None:
    assert [row.folder for row in moved[:2]] == ["releases/pilot", "home/releases/pilot"]
    assert [(row.place / "SHA256SUMS").exists() for row in moved] == [True] * 3


def test_an_empty_folder_may_be_named_and_a_foreign_one_is_left_alone(
    collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    assert publish_release(collection, tmp_path / "empty", NOW).is_new
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("Dear diary")
    with pytest.raises(ActionError, match="it holds something else"):
        publish_release(collection, tmp_path / "mine", NOW)
    assert contents(tmp_path / "mine") == {"diary.txt": b"Dear diary"}
    with pytest.raises(ActionError, match=r"nothing can be written there .*choose another"):
        publish_release(collection, tmp_path / "mine" / "diary.txt" / "out", NOW)


def test_it_refuses_what_is_not_decided_or_not_placed(tmp_path: Path) -> None:
    collection = island()
    with pytest.raises(ActionError, match="5 kept questions have no split yet: run make_splits"):
        publish_release(collection, tmp_path / "out", NOW)
    for question in list(collection.stages.get(name="question").questions.all()):
        if hasattr(question, "verdict"):
            question.verdict.delete()
    with pytest.raises(ActionError, match="no question to release yet"):
        publish_release(collection, tmp_path / "out", NOW)
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_nothing_behind(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("annotation.release.row_tables.write_votes", full)
    with pytest.raises(ActionError, match=r"No space left on device\); nothing"):
        publish_release(collection, tmp_path / "out", NOW)
    assert not list(tmp_path.iterdir())
    assert not Release.objects.exists()


def test_a_release_that_cannot_be_recorded_takes_its_folder_back(
    collection: Collection, tmp_path: Path, settings: Any
) -> None:
    settings.RELEASES = tmp_path

    def go_away(release: Release, is_new: bool) -> None:
        assert release.place.is_dir()
        raise OperationalError("server closed the connection unexpectedly")

    with pytest.raises(OperationalError):
        publish_release(collection, None, NOW, recorded=go_away)
    assert not list(tmp_path.iterdir())
    assert not Release.objects.exists()
    change(collection)
    issued = publish_release(collection, None, NOW)
    assert (issued.folder, issued.release.number) == (tmp_path / "pilot", 1)
    # Nor does one that is issued already lose it.
    with pytest.raises(OperationalError):
        publish_release(collection, None, NOW, recorded=go_away)
    assert list(tmp_path.iterdir()) == [issued.folder]


def test_what_the_dead_left_is_found_and_nobody_else_s(tmp_path: Path) -> None:
    with folder_beside(tmp_path / "pilot") as space:
        assert list(left_behind(tmp_path)) == []
        dead = tmp_path / ".pilot.made-12345678"
        dead.mkdir()
        mine = tmp_path / ".config.87654321"
        mine.mkdir()
        (mine / "diary.txt").write_text("Dear diary")
        assert list(left_behind(tmp_path)) == [dead]
        reconcile(tmp_path)
        assert {*tmp_path.iterdir()} == {space, mine}


def test_a_withdrawal_leaves_no_trace_in_the_next_release(
    collection: Collection, tmp_path: Path
) -> None:
    first = publish_release(collection, tmp_path / "one", NOW)
    Worker.objects.filter(id="grace").update(withdrawn_at=NOW)
    with pytest.raises(ActionError, match="was withdrawn: run validate_answers pilot"):
        publish_release(collection, tmp_path / "two", NOW)
    Verdict.objects.all().delete()
    decide_collection(collection, NOW)
    kept = Question.objects.get(text="Who built the school?")
    make_answer(kept, worker="ruth")
    decide_collection(collection, NOW)
    make_splits(collection, NOW)
    second = publish_release(collection, tmp_path / "two", NOW)
    assert second.release.supersedes == first.release
    grace = pseudonym(collection.pseudonym_key, "grace").encode()
    assert any(grace in content for content in contents(first.folder).values())
    assert not any(grace in content for content in contents(second.folder).values())
    assert second.release.counts["questions"] == {"train": 0, "dev": 0, "test": 1}


def test_the_manifest_tells_parameters_and_files(collection: Collection, tmp_path: Path) -> None:
    folder = publish_release(collection, tmp_path / "out", NOW).folder
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["parameters"] == collection.parameters
    assert manifest["files"]["train.json"]["bytes"] == (folder / "train.json").stat().st_size


def test_the_card_counts_what_was_rejected_and_who_was_left_out(
    collection: Collection, tmp_path: Path
) -> None:
    before = (publish_release(collection, tmp_path / "one", NOW).folder / "README.md").read_text()
    handed_in = Submission.objects.filter(lease__unit__stage__collection=collection)
    assert f"Of {handed_in.count()} assignments handed in 0 were rejected" in before
    handed_in.filter(pk=handed_in[0].pk).update(state="rejected")
    exclude_worker(collection, Worker.objects.get(pk="mallory"), "Copied.", "rita", NOW)
    make_splits(collection, NOW)
    folder = publish_release(collection, tmp_path / "two", NOW).folder
    card = (folder / "README.md").read_text()
    assert "handed in 1 were rejected and not paid" in card
    assert "Everything by 1 worker was left out, by a requester's decision:" in card
    mallory = pseudonym(collection.pseudonym_key, "mallory").encode()
    votes = (folder / "votes.parquet").read_bytes()
    assert mallory not in votes
