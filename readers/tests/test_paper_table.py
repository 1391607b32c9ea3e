"""From a release one command fills the paper's table: our rows beside its own."""

import json
from io import StringIO

import pyarrow
import pytest
import torch
from django.core.management import CommandError, call_command
from pyarrow import parquet

from annotation.baselines.tests.toy import make_protocol, write_sums

torch.set_num_threads(1)


@pytest.fixture
def options(tmp_path, settings):
    """Return the options of a call for a release that people have made."""
    folder = make_protocol(tmp_path / "protocols")
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, folder.parent]
    release = tmp_path / "release"
    release.mkdir()
    write_sums(release / "train.json", 22, 1)
    write_sums(release / "dev.json", 6, 2)
    (release / "manifest.json").write_text(json.dumps({"title": "A pilot"}))
    votes(release, [False] * 5)
    return {"protocol": "sums", "release": release, "out": tmp_path / "out", "recipe": "small"}


def votes(release, synthetic):
    parquet.write_table(pyarrow.table({"synthetic": synthetic}), release / "votes.parquet")


def run(**options):
    out = StringIO()
    call_command("baseline", "all", stdout=out, **options)
    return out.getvalue()


def test_each_baseline_has_a_row_beside_the_papers(options):
    table, *by_group = json.loads(run(**options, json=True))
    assert [each["name"] for each in by_group] == [f"groups-{row[0]}" for row in table["rows"]]
    assert by_group[0]["columns"] == ["group", "right"]
    assert by_group[0]["rows"] == [["all", table["rows"][0][1]]]
    assert table["title"] == "Sums, Table 1, beside our own"
    assert table["columns"][:5] == ["baseline", "right", "paper", "all: right", "paper"]
    assert [row[0] for row in table["rows"]] == ["adder", "wide-adder", "halver"]
    card = json.loads((options["out"] / "adder" / "card.json").read_text())
    assert table["rows"][0][1:3] == [f"{card['scores']['right']:.4g}", "0.9"]
    assert table["rows"][1][4] == "0.95"
    assert table["rows"][0][5:9] == ["small", "none", 22, 6]
    assert "A pilot" in table["note"]
    assert table["simulated"] == ""
    assert json.loads((options["out"] / "tables.json").read_text()) == [table, *by_group]
    assert "| adder |" in (options["out"] / "README.md").read_text()


def test_a_release_of_simulated_workers_has_its_table_marked_so(options):
    votes(options["release"], [True, True, False])
    printed = run(**options)
    assert "Simulated workers gave 2 of the 3 votes" in " ".join(printed.split())
    assert "**Simulated workers gave 2" in (options["out"] / "README.md").read_text()


def test_what_is_finished_is_not_trained_again(options):
    first = run(**options, json=True)
    kept = {path: path.stat().st_mtime_ns for path in options["out"].glob("*/*/weights-*.pt")}
    assert len(kept) == 6
    assert run(**options, json=True) == first
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_what_learns_alike_is_trained_once_and_answers_otherwise(options):
    run(**options)
    first, second = (options["out"] / name for name in ("adder", "halver"))
    weights = [sorted(out.glob("*/weights-*.pt")) for out in (first, second)]
    assert len(weights[0]) == len(weights[1]) == 2
    for one, other in zip(*weights, strict=True):
        assert one.samefile(other)
    predictions = [json.loads((out / "predictions.json").read_text()) for out in (first, second)]
    assert predictions[0] != predictions[1]
    alone = options["out"].with_name("alone")
    files = {"train": [options["release"] / "train.json"], "dev": options["release"] / "dev.json"}
    call_command(
        "baseline", "halver", protocol="sums", out=alone, recipe="small", stdout=StringIO(), **files
    )
    assert json.loads((alone / "predictions.json").read_text()) == predictions[1]
    for path in weights[1]:
        assert (alone / path.relative_to(second)).read_bytes() == path.read_bytes()


def test_an_estimate_is_of_all(options):
    printed = run(**options, estimate=True)
    assert "All of them: about" in printed
    assert "wide-adder" in printed
    assert not options["out"].exists()
    assert set(json.loads(run(**options, estimate=True, json=True))) == {
        "adder",
        "wide-adder",
    }


def test_what_is_missing_is_said_in_one_line(options):
    with pytest.raises(CommandError, match="Which --release"):
        run(**{**options, "release": None})
    (options["release"] / "dev.json").unlink()
    with pytest.raises(CommandError, match=r"release: it lacks dev\.json, ranking\.json; give"):
        run(**options)


def test_what_the_release_lacks_the_files_for_is_left_out_and_named(options):
    table, *_ = json.loads(run(**options, json=True))
    assert "The release lacks ranking.json: ranked-adder is left out." in table["note"]
    assert not (options["out"] / "ranked-adder").exists()
