"""What was done once can be done again: a replayed log gives the same release, byte for byte."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.migrated_databases import databases
from tests.serving import serving

FAST_JOBS = {"DJANGO_SETTINGS_MODULE": "tests.fast_jobs_settings"}
STEPS, TALKS = "tests.replaying", "tests.replaying_dialogs"


def contents(folder: Path) -> dict[str, str]:
    """Return the digest of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_replayed_log_gives_the_same_release(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    do_twice(STEPS, tmp_path, log)
    check_logs(tmp_path / "collect", log)


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_replayed_dialogs_give_the_same_release_and_the_same_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    do_twice(TALKS, tmp_path, log)
    check_dialogs(tmp_path / "collect", log)
    # Units have no order in which somebody did them.
    told = [sorted(path.read_text().splitlines()) for path in (log, tmp_path / "log.jsonl.again")]
    assert told[0] == told[1]


def do_twice(steps: str, folder: Path, log: Path) -> None:
    """Collect on one instance and replay on another; both releases are equal, byte for byte."""
    for function in ("collect", "replay"):
        home = folder / f"home of {function}"
        home.mkdir()
        with databases(function) as settings, serving(home, {**settings, **FAST_JOBS}) as instance:
            instance.call(f"{steps}:{function}", str(folder / function), str(log))
    first, second = contents(folder / "collect"), contents(folder / "replay")
    assert sorted({name for name, _ in first.items() ^ second.items()}) == []


def check_dialogs(folder: Path, log: Path) -> None:
    """What was released was said in the log's dialogs, and all of it is marked as made up."""
    private = lines(log)
    ends = [line["ending"] for line in private if line["is"] == "dialog"]
    # Mostly some are left too, but chance says who of so few meets whom.
    assert "all_asked" in ends
    asked = {line["question"] for line in private if line["is"] == "move"}
    released = [
        question["question"]
        for path in folder.glob("*_v0.2.json")
        for section in json.loads(path.read_text())["data"]
        for dialog in section["paragraphs"]
        for question in dialog["qas"]
    ]
    assert released
    assert set(released) <= asked
    votes = parquet.read_table(folder / "votes.parquet").to_pylist()
    assert {(vote["stage"], vote["synthetic"]) for vote in votes} == {
        ("dialog", True),
        ("validation", True),
    }


def check_logs(folder: Path, log: Path) -> None:
    """The public log tells all who worked, and nobody's identity; the private one is private."""
    public = lines(folder / "assignments.jsonl")
    private = [line for line in lines(log) if line["is"] == "assignment"]
    assert [(line["taken"], line["handed_in"], line["unit"]) for line in public] == [
        (line["taken"], line["handed_in"], line["unit"]) for line in private
    ]
    assert {line["end"] for line in public} == {"submitted", "returned", "expired"}
    assert [line["end"] for line in public if line["counts"] is False] == ["expired"]
    assert {line["consent_version"] for line in public} == {1, 2}
    assert {line["stage"] for line in public} >= {"question", "answer", "question_qualification"}
    assert {line["granted"] for line in public} == {True, False, None}
    secrets = {line["worker"] for line in private} | {lines(log)[0]["pseudonym_key"]}
    released = [path.read_text("latin-1") for path in folder.rglob("*") if path.is_file()]
    assert not [secret for secret in secrets for text in released if secret in text]
    assert log.stat().st_mode & 0o077 == 0
