"""Published dialogs, held once more by pairs over sockets, are released as they were published."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from annotation.protocols.quac.file_format import CANNOT_ANSWER
from tests.serving import Instance, serving

VALIDATED = "val_v0.2.json"
# Of each file, how many turns it has, and how many answers of validators. The other one says the
# same of dialogs that nobody validated.
FILES = [
    (VALIDATED, 41, 119),
    pytest.param("train_v0.2.json", 39, 0, marks=pytest.mark.long),
]


def dialogs_of(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what was said in each dialog of an official file, by title and heading."""
    found = {}
    for section in json.loads(path.read_text())["data"]:
        (dialog,) = section["paragraphs"]
        assert dialog["context"].endswith(f" {CANNOT_ANSWER}")
        found[section["title"], section["section_title"]] = {
            "background": section["background"],
            "context": dialog["context"],
            "turns": [
                [qa["question"], qa["orig_answer"], qa["yesno"], qa["followup"], *answers_of(qa)]
                for qa in dialog["qas"]
            ],
        }
    return found


def answers_of(question: dict[str, Any]) -> list[Any]:
    """Return everybody's answers, the teacher's last; validators come in no order."""
    *others, last = question["answers"]
    return [sorted(others, key=lambda answer: (answer["answer_start"], answer["text"])), last]


def replay(instance: Instance, official: Path, slug: str, out: Path) -> dict[str, Any]:
    """Return what simulate said when everybody held and validated the file's dialogs again."""
    options = ["--protocol", "quac", "--replay", str(official), "--workers", "8", "--json"]
    said = json.loads(instance.run("simulate", slug, *options))
    instance.run("validate_answers", slug)
    instance.run("make_splits", slug)
    instance.run("export_dataset", slug, "--out", str(out))
    return dict(said)


@pytest.mark.parametrize(("name", "n_turns", "n_validated"), FILES)
def test_replayed_dialogs_come_out_equal(
    data: Path, tmp_path: Path, name: str, n_turns: int, n_validated: int
) -> None:
    home, official, out = tmp_path / "home", data / "official" / "quac" / name, tmp_path / name
    home.mkdir()
    with serving(home) as instance:
        said = replay(instance, official, name.partition("_")[0], out)
        true = dialogs_of(official)
        assert said["hits"]["dialog"] >= 2 * len(true)
        # Who is cut off after the last answer may learn that it is over before "taken" comes.
        assert n_turns == sum(len(dialog["turns"]) for dialog in true.values())
        assert n_turns - len(true) <= said["answer taken"] <= n_turns
        # Some of them clicked twice, and some lost their line.
        assert said["sent twice"]
        released: dict[tuple[str, str], dict[str, Any]] = {}
        for path in sorted(out.glob("*_v0.2.json")):
            found = dialogs_of(path)
            assert not released.keys() & found.keys()
            released |= found
        assert released == true
        rows = instance.call("tests.test_replayed_dialogs:made")
        if name == VALIDATED:
            check_people(instance, official, out)
    # Of the validators' answers, the file holds all but those that are marked as made up.
    said_once = dict.fromkeys(("turns", "questions", "answers"), n_turns)
    assert rows == {**said_once, "validated": n_validated, "synthetic": 0}


def check_people(instance: Instance, official: Path, release: Path) -> None:
    """The replay reports of people what the file imported does, and says what it made up."""
    instance.run("import_dataset", "imported", "--protocol", "quac", str(official))
    imported, again = (
        json.loads(instance.run("report", slug, "--json")) for slug in ("imported", "val")
    )
    people = [name for name in imported if name == "people" or name.startswith("human_by_")]
    assert len(people) == 5
    for name in people:
        found, true = (
            {row[0]: row[1:] for row in each[name]["rows"]} for each in (again, imported)
        )
        assert found.keys() == true.keys()
        for measure, figures in true.items():
            # A replay plans its folds anew: only the figures of all of them are the same.
            assert found[measure][-1] == pytest.approx(figures[-1], abs=1e-9), measure
    n_made_up, n_votes = 45, 164
    told = f"{n_made_up} of {41 + n_votes} answers, a part of {n_votes - n_made_up} answers"
    assert again["people"]["simulated"] == again["size"]["simulated"]
    assert again["people"]["simulated"] == f"Simulated work is left out: {told}."
    assert imported["people"]["simulated"] == ""
    assert again["pay"]["rows"][-2][5:7] == [None, None]
    votes = parquet.read_table(release / "votes.parquet").to_pylist()
    validators = [row for row in votes if row["stage"] == "validation"]
    assert len(validators) == n_votes
    assert sum(row["synthetic"] for row in validators) == n_made_up
    assert {tuple(row["synthetic_fields"]) for row in validators} == {("affirmation",)}
    assert not any("affirmation" in row["answer_more"] for row in validators)
    assert {row["hit_seconds"] for row in votes} == {None}
    assert "a part was added" in (release / "README.md").read_text()


def made() -> dict[str, int]:
    """Return how many rows there are of what was said (runs on the instance's databases)."""
    from tasks.models import Answer, Question, Turn

    return {
        "turns": Turn.objects.count(),
        "questions": Question.objects.count(),
        "answers": Answer.objects.filter(stage__name="dialog").count(),
        "validated": Answer.objects.filter(stage__name="validation", synthetic=False).count(),
        "synthetic": Question.objects.filter(synthetic=True).count(),
    }
