"""Published dialogs, held once more by pairs over sockets, are released as they were published."""

import json
from pathlib import Path
from typing import Any

from annotation.protocols.quac.layout import CANNOT_ANSWER
from tests.serving import Instance, serving

FILES = ("val_v0.2.json", "train_v0.2.json")


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


def test_replayed_dialogs_come_out_equal(data: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with serving(tmp_path / "home") as instance:
        for name in FILES:
            official, out = data / "official" / "quac" / name, tmp_path / name
            said = replay(instance, official, name.partition("_")[0], out)
            true = dialogs_of(official)
            assert said["hits"]["dialog"] >= 2 * len(true)
            # Who is cut off after the last answer may learn that it is over before "taken" comes.
            n_turns = sum(len(dialog["turns"]) for dialog in true.values())
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
    # Of the validators' answers, the file holds all but those that are marked as made up.
    assert rows == {"turns": 80, "questions": 80, "answers": 80, "validated": 119, "synthetic": 0}


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
