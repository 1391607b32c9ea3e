"""The command that scores a predictions file, as a person and as a script call it."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.protocols.quac.tests.talks import question, write

GOLD = [
    {
        "text": "t",
        "questions": [
            {"question": "Who?", "answer": {"type": "none"}, "context": []},
            {"question": "Where?", "answer": {"type": "binary", "answer_value": "no"}},
            {"question": "When?", "answer": {"type": "binary", "answer_value": "yes"}},
        ],
    }
]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return the paths of a predictions file and a gold file."""
    (tmp_path / "predictions.json").write_text(json.dumps({"qid_1": "none", "qid_2": "yes"}))
    (tmp_path / "dev.json").write_text(json.dumps(GOLD))
    return [str(tmp_path / "predictions.json"), str(tmp_path / "dev.json")]


def run(*arguments: str) -> str:
    """Return what the command prints."""
    out = StringIO()
    call_command("score", *arguments, stdout=out)
    return out.getvalue()


def test_json_has_exactly_the_official_keys_unrounded(files: list[str]) -> None:
    printed = json.loads(run("--protocol", "iirc", *files, "--json"))
    assert printed == {"global_em": 1 / 3, "global_f1": 1 / 3}


def test_a_breakdown_is_added_where_it_is_asked_for(files: list[str]) -> None:
    printed = json.loads(run("--protocol", "iirc", *files, "--json", "--by", "answer-type"))
    assert printed["by"]["none"] == {"global_em": 1.0, "global_f1": 1.0}


def test_a_person_reads_a_table_with_counts(files: list[str]) -> None:
    printed = run("--protocol", "iirc", *files, "--by", "links")
    assert "exact match %" in printed
    assert "33.33" in printed
    assert "Questions without a prediction, counted as 0: 1." in printed


def test_a_wrong_call_gets_one_line(files: list[str]) -> None:
    missing = files[0] + ".missing"
    for arguments, message in [
        (["--protocol", "iirc", missing, files[1]], "there is no such file"),
        (["--protocol", "iirc", files[0], str(Path(files[1]).parent)], "cannot be read"),
        (["--protocol", "iirc", *files, "--by", "year"], "choose one of links, answer-type"),
        (["--protocol", "unheard-of", *files], "There is no protocol 'unheard-of'"),
    ]:
        with pytest.raises(CommandError, match=message) as raised:
            run(*arguments)
        assert "\n" not in str(raised.value)


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("score", "--help")
    assert "manage.py score --protocol" in " ".join(capsys.readouterr().out.split())


def test_a_baseline_writes_the_predictions_that_are_scored(tmp_path: Path) -> None:
    talk = [question("What notes?", "the first notes"), question("Who knows?", None)]
    gold, new = str(write(tmp_path / "dev.json", talk)), str(tmp_path / "new.jsonl")
    printed = json.loads(
        run("--protocol", "quac", "--baseline", "majority", new, gold, "--train", gold, "--json")
    )
    assert printed["f1"] == 50
    assert json.loads(run("--protocol", "quac", new, gold, "--json")) == printed


def test_all_baselines_stand_in_one_table(tmp_path: Path) -> None:
    talk = [question("What notes?", "the first notes"), question("Who knows?", None)]
    gold, new = str(write(tmp_path / "dev.json", talk)), tmp_path / "new"
    call = ["--protocol", "quac", "--baseline", "all", str(new), gold]
    with pytest.raises(CommandError, match="give --train FILE"):
        run(*call)
    printed = json.loads(run(*call, "--train", gold, "--json"))
    written = sorted(path.stem for path in new.iterdir())
    assert sorted(printed["by"]) == written
    assert printed["by"]["majority"]["f1"] == 50
    with pytest.raises(CommandError, match="a new folder"):
        run(*call, "--train", gold)
    table = run(*call[:-2], str(tmp_path / "more"), gold, "--train", gold)
    assert all(table.count(name) >= 1 for name in ("majority", "human", "unfiltered_f1"))


def test_a_wrong_call_of_a_baseline_gets_one_line(files: list[str], tmp_path: Path) -> None:
    for arguments, message in [
        (["--protocol", "quac", "--baseline", "oracle", *files], "choose one of random-sentence"),
        (["--protocol", "iirc", "--baseline", "majority", *files], "has no baselines"),
        (["--protocol", "iirc", *files, "--seed", "1"], "give --baseline NAME"),
        (["--protocol", "quac", *files, "--language", "en"], "give --baseline NAME"),
        (["--protocol", "iirc", *files, "--language", "en"], "means nothing for iirc"),
    ]:
        with pytest.raises(CommandError, match=message):
            run(*arguments)
