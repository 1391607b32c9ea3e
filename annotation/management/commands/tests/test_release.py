"""A requester's last steps as they are typed: decide, split, report, export."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Verdict
from annotation.protocols.iirc.tests.island import island

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    """Return what a command prints."""
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def printed(*arguments: str) -> Any:
    """Return what a command prints as JSON."""
    return json.loads(run(*arguments, "--json"))


def test_from_answers_to_a_release(tmp_path: Path) -> None:
    island()
    Verdict.objects.all().delete()
    decided = printed("validate_answers", "pilot")
    assert decided == {
        "changed": 7,
        "outcomes": [
            {"outcome": "kept", "reason": "agreed", "questions": 3},
            {"outcome": "kept", "reason": "single_annotator", "questions": 2},
            {"outcome": "dropped", "reason": "marked_bad", "questions": 1},
            {"outcome": "dropped", "reason": "no_agreement", "questions": 1},
        ],
    }
    assert printed("validate_answers", "pilot")["changed"] == 0
    assert "0 verdicts are new or changed." in run("validate_answers", "pilot")
    assert printed("make_splits", "pilot") == {"train": 2, "dev": 1, "test": 2}
    assert "Assigned 5 questions to splits: 1 dev, 2 test, 2 train." in run("make_splits", "pilot")
    out = str(tmp_path / "out")
    first = run("export_dataset", "pilot", "--out", out)
    assert "Release 1 of pilot: 2 train, 1 dev, 2 test questions." in first
    assert first.splitlines()[-1] == out
    again = printed("export_dataset", "pilot", "--out", out)
    assert (again["new"], again["release"], again["folder"]) == (False, 1, out)
    assert "Nothing has changed since release 1" in run("export_dataset", "pilot", "--out", out)


def test_the_report_is_for_people_and_for_scripts() -> None:
    island()
    told = run("report", "pilot")
    for piece in (
        "Size (Table 2 of the IIRC paper)",
        "Not collected yet",
        "$18.00",
        "Pay per stage",
    ):
        assert piece in told
    tables = printed("report", "pilot")
    assert list(tables) == [
        "size",
        "links",
        "types",
        "time",
        "agreement",
        "human_performance",
        "vote_agreement",
        "outcomes",
        "pay",
    ]
    (voted,) = tables["vote_agreement"]["rows"]
    # Of the four that three people each have answered all give one type.
    assert voted[:5] == ["question", "answer type", 4, 3, 1.0]
    assert tables["types"]["rows"][0] == ["Words from a text", 2, 0.4]


def test_a_wrong_call_gets_one_line(tmp_path: Path) -> None:
    island()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("Dear diary")
    run("make_splits", "pilot")
    for arguments, message in [
        (["validate_answers", "unheard-of"], "There is no collection 'unheard-of'"),
        (["make_splits", "unheard-of"], "There is no collection"),
        (["report", "unheard-of"], "There is no collection"),
        (["export_dataset", "unheard-of"], "There is no collection"),
        (["export_dataset", "pilot", "--out", str(tmp_path / "mine")], "holds something else"),
    ]:
        with pytest.raises(CommandError, match=message) as refused:
            run(*arguments)
        assert "\n" not in str(refused.value)
