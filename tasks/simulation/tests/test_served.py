"""On a really served instance, real work walks through the pages into equal rows."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import execute_from_command_line

from tests.serving import ROOT, Instance, serving

HERE = "tasks.simulation.tests.test_served"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A served instance for all tests here."""
    with serving(tmp_path_factory.mktemp("home")) as running:
        yield running


def simulate(instance: Instance, name: str, path: Path, *options: str) -> dict[str, Any]:
    command = ["simulate", name, "--protocol", "iirc", "--replay", str(path), "--workers", "4"]
    return json.loads(instance.run(*command, "--json", *options))


def made(slug: str) -> list[dict[str, Any]]:
    """Return a collection's questions with their answers (runs on the instance's databases)."""
    from tasks.models import Question

    return [
        {
            "text": question.text,
            "synthetic": question.synthetic,
            **question.payload,
            "answers": [
                {"type": answer.type, "synthetic": answer.synthetic, **answer.payload}
                for answer in question.answers.all()
            ],
        }
        for question in Question.objects.filter(stage__collection__slug=slug).order_by("position")
    ]


def test_real_work_becomes_equal_rows_beside_another_collection(
    instance: Instance, data: Path
) -> None:
    official = data / "official" / "iirc" / "iirc_dev_first_passage.json"
    half = simulate(instance, "half", data / "replay" / "iirc_from_ircot.json", "--stage=question")
    assert half["hits"] == {"question": 14}

    whole = simulate(instance, "whole", official)
    assert whole["hits"] == {"question": 1, "answer": 1}
    assert whole["places_left"] == {}
    for row, true in zip(
        instance.call(f"{HERE}:made", "whole"),
        json.loads(official.read_text())[0]["questions"],
        strict=True,
    ):
        check_row(row, true)

    # The two collections share their HIT types, yet nobody has answered for the other one.
    questions = instance.call(f"{HERE}:made", "half")
    assert len(questions) == 14
    assert all(row["synthetic"] and not row["answers"] for row in questions)


def check_row(row: dict[str, Any], true: dict[str, Any]) -> None:
    assert row["text"] == true["question"]
    assert row["links"] == true["question_links"]
    main = [span for span in true["context"] if span["passage"] == "main"]
    assert [[span["start"], span["end"]] for span in row["context"]] == [
        span["indices"] for span in main
    ]
    assert [span["text"] for span in row["context"]] == [span["text"] for span in main]
    (answer,) = row["answers"]
    assert answer["type"] == true["answer"]["type"]
    assert [{**span, "document": span["document"].lower()} for span in answer["spans"]] == [
        {
            "document": span["passage"],
            **{name: span[name] for name in ("start", "end", "text")},
        }
        for span in true["answer"]["answer_spans"]
    ]
    assert [(span["document"], span["text"]) for span in answer["context"]] == [
        (span["passage"], span["text"]) for span in true["context"]
    ]
    assert not row["synthetic"]
    assert not answer["synthetic"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["nobody"], "There is no collection 'nobody'"),
        (["nobody", "--workers", "0"], "argument --workers: '0': write a whole number from 1"),
        (["nobody", "--protocol", "iirc"], "--protocol goes with --replay"),
        (["new", "--protocol", "iirc", "--replay", "no.json"], "no.json: it cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    instance: Instance, options: list[str], sentence: str
) -> None:
    complained = instance.call(f"{HERE}:complaint", *options)
    # What is wrong with an option stands below how the command is used.
    assert sentence in complained.splitlines()[-1]
    assert "Traceback" not in complained


def complaint(*options: str) -> str:
    """Return what `simulate` writes when it refuses (runs on the instance's databases)."""
    with redirect_stderr(StringIO()) as complained, pytest.raises(SystemExit):
        execute_from_command_line(["manage.py", "simulate", *options])
    return complained.getvalue()


def test_a_marketplace_that_is_not_there_leaves_nothing_pending(
    instance: Instance, data: Path
) -> None:
    official = data / "official" / "iirc" / "iirc_dev_first_passage.json"
    elsewhere = {**instance.environment, "PORT": "9"}
    options = ["--protocol", "iirc", "--replay", str(official)]
    done = subprocess.run(
        [sys.executable, "manage.py", "simulate", "late", *options],
        env=elsewhere,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "http://127.0.0.1:9 does not answer" in done.stderr
    assert done.stderr.count("\n") == 1
    assert instance.call(f"{HERE}:made", "late") == []


@pytest.mark.long
def test_a_crowd_does_what_is_open_and_is_offered_nothing_it_cannot_take(
    instance: Instance,
) -> None:
    sample = str(ROOT / "deploy" / "sample" / "quarnsey.xml")
    small = {"question.items_per_hit": 2, "question.questions_per_hit": 2}
    small |= {
        "answer.items_per_hit": 2,
        # One more than can be had: what is left in the end is for nobody who was here.
        "answer.redundancy": "{ train = 5, dev = 5, test = 5 }",
        "question.multi_link_questions": 0,
        "splits": "{train = 1, dev = 0, test = 0}",
    }
    changes = [f"--set={key}={value}" for key, value in small.items()]
    instance.run("ingest_dump", sample, "--corpus", "quarnsey", "--licence", "CC0 1.0")
    create = ["create_collection", "open", "--protocol", "iirc", "--corpus", "quarnsey"]
    instance.run(*create, "--budget", "200", *changes)
    instance.run("select_seeds", "open", "--count", "8")
    instance.run("publish", "open")
    crowd = ["simulate", "open", "--workers", "4", "--behaviour", "diligent", "--json"]
    first = json.loads(instance.run(*crowd, "--inspect", "--stage", "question_qualification"))
    assert first["hits"] == {"question_qualification": 4}
    # The same people come again, and remember nothing: all that is left is theirs at once.
    again = json.loads(instance.run(*crowd, "--inspect"))
    assert again["hits"]["question"] >= 1
    assert again["hits"]["answer"] >= 4
    assert again["places_left"]["answer"] >= 1
    # A job tells the marketplace; whoever is quicker than it comes in vain, as all four would.
    assert again.get("returned", 0) <= 2, "somebody was offered what they could not take"
