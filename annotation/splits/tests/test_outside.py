"""An outside model's predictions stand in for the built-in reader, or are refused by name."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import CrossValidation, SplitAssignment
from annotation.splits.assignment import make_splits
from annotation.splits.single_hop_review import decide
from annotation.splits.tests.making import NOW, make_kept

pytestmark = pytest.mark.django_db


def command(*words):
    said = StringIO()
    call_command("judge_difficulty", "pilot", *words, stdout=said)
    return said.getvalue()


def test_a_fifth_right_from_a_file_makes_a_fifth_medium(tmp_path):
    collection = make_kept(50, writers=("ada",))
    decide(collection, "wada", False, "rita", NOW)
    wanted = tmp_path / "examples.jsonl"
    assert "50 questions" in command("--examples", str(wanted))
    given = [json.loads(line) for line in wanted.read_text().splitlines()]
    assert {line["fold"] for line in given} == {0, 1, 2}
    lines = [
        {"id": one["id"], "answer": one["answer"] if at % 5 == 0 else "Nobody", "loss": at / 10}
        for at, one in enumerate(given)
    ]
    answers = write_lines(tmp_path / "answers.jsonl", lines)
    assert "10 answered right" in command("--predictions", str(answers))
    counts = make_splits(collection, NOW)
    assert counts["train-medium"] == 10
    assert sum(counts.values()) == 50
    right = {line["id"] for line in lines[::5]}
    medium = SplitAssignment.objects.filter(split="train-medium")
    assert set(medium.values_list("question__key", flat=True)) == right


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no prediction"),
        ("{", "line 1: it is no object"),
        ('{"id": "k00000", "answer": "x"}', '"loss" must be a number'),
        ('{"id": "k00000", "answer": "x", "loss": -1}', '"loss" must be a number'),
        ('{"id": 3, "answer": "x", "loss": 1}', "must be texts"),
        ('{"id": "a", "answer": "x", "loss": 1}\n' * 2, "answered twice"),
        ('{"answer": {"a": "x"}, "sp": {}}', 'beside "answer" it needs "loss"'),
        ('{"answer": {"k00000": "x"}, "sp": {}, "loss": {"k00000": 1}}', "23 questions have no"),
    ],
)
def test_a_wrong_file_is_refused_and_nothing_is_lost(tmp_path, content, said):
    make_kept(24)
    path = tmp_path / "answers.json"
    path.write_text(content)
    with pytest.raises(CommandError, match=said):
        command("--predictions", str(path), "--as-multi-hop")
    assert not CrossValidation.objects.exists()


def test_a_protocol_without_difficulty_says_so():
    from tasks.tests.making import make_collection

    make_collection()
    with pytest.raises(CommandError, match="judges no difficulty"):
        command()


def write_lines(path: Path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
