"""The sample for labelling by hand is drawn by seed, one question a dialog, and counted again."""

import csv
import json
import random
from io import StringIO
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.metrics.result import ScoreError
from annotation.protocols.quac.export import identified, published
from annotation.protocols.quac.report import LABELS, counted, drawn
from annotation.protocols.quac.tests.talks import SENTENCES, question, write
from annotation.records.schema import SeedRecord
from annotation.release.official_import import Source, import_official_files

TALK = [question(f"What about {word}?", SENTENCES[at]) for at, word in enumerate("one two".split())]


def seeds(folder: Path, number: int) -> list[SeedRecord]:
    """Return the records of as many dialogs of two questions."""
    path = write(folder / "train.json", *[TALK] * number)
    return list(identified(published({"train.json": path.read_bytes()}).seeds))


def test_it_is_one_question_of_each_of_a_hundred_dialogs(tmp_path: Path) -> None:
    records = seeds(tmp_path, 130)
    rows = drawn(records, 100, random.Random(3))
    assert len(rows) == len({row["id"].partition("_q#")[0] for row in rows}) == 100
    assert {row["question"] for row in rows} == {each["question"] for each in TALK}
    assert drawn(records[::-1], 100, random.Random(3)) == rows
    assert drawn(records, 100, random.Random(4)) != rows
    second = next(row for row in rows if row["question"] == "What about two?")
    assert second["before"] == f"Student: What about one? Teacher: {SENTENCES[0]}"
    assert {second[name] for name in LABELS} == {""}


def test_labels_are_counted_as_in_table_3() -> None:
    given = ["yes no no", "no yes no", "no yes yes", "No no YES", "  "]
    rows = [dict(zip(LABELS, (words.split() or [""] * 3), strict=True)) for words in given]
    table = counted(rows)
    assert [list(row) for row in table.rows] == [
        ["non-factoid", 3, 0.75],
        ["contextual", 3, 0.75],
        ["of these, to the dialog", 2, 2 / 3],
        ["of these, to the article", 2, 2 / 3],
    ]
    assert "4 questions are labelled, 1 wait" in table.note


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (["maybe", "no", "no"], "Row 1: factoid must be one of yes, no, not 'maybe'"),
        (["yes", "no", ""], "Row 1: label all of"),
        (["yes"], "Row 1: there is no column contextual_history"),
    ],
)
def test_a_wrong_label_is_refused_by_its_row(row: list[str], sentence: str) -> None:
    with pytest.raises(ScoreError, match=sentence):
        counted([dict(zip(LABELS, row, strict=False))])


@pytest.mark.django_db
def test_the_command_writes_the_sample_and_reads_it_labelled(tmp_path: Path) -> None:
    talk = [question("=SUM(1)?", SENTENCES[0])]
    gold, file = write(tmp_path / "val.json", talk), tmp_path / "sample.csv"
    import_official_files(
        "talks", "quac", {"val.json": gold.read_bytes()}, Source(), timezone.now()
    )

    def report(*arguments: str) -> str:
        out = StringIO()
        call_command("report", "talks", *arguments, stdout=out)
        return out.getvalue()

    assert "Wrote 1 rows" in report("--sample", str(file))
    written = file.read_bytes()
    with pytest.raises(CommandError, match="may hold labels"):
        report("--sample", str(file), "--json")
    assert file.read_bytes() == written
    with file.open(encoding="utf-8-sig", newline="") as lines:
        (row,) = csv.DictReader(lines)
    # No spreadsheet may take a worker's words for a formula.
    assert row["question"] == "'=SUM(1)?"
    file.write_text(file.read_text("utf-8").replace(",,,", ",no,yes,no"), "utf-8")
    found = json.loads(report("--labels", str(file), "--json"))
    assert found["labels"]["rows"][1] == ["contextual", 1, 1.0]
    by_scheme = json.loads(report("--labels", str(file), "--scheme", "questions", "--json"))
    assert by_scheme["contextual_history"]["rows"][0][2:] == [1, 1.0]
    figure = tmp_path / "flow.svg"
    report("--labels", str(file), "--scheme", "questions", "--figure", str(figure))
    drawn = figure.read_text("utf-8")
    assert fromstring(drawn).get("aria-label", "").startswith("From factoid to contextual article")
    assert "<title>no → no: 1, 100 % of its items</title>" in drawn
    assert "prefers-color-scheme: dark" in drawn
    with pytest.raises(CommandError, match="is there already: name a new file"):
        report("--labels", str(file), "--scheme", "questions", "--figure", str(figure))
    nowhere = tmp_path / "nowhere" / "flow.svg"
    with pytest.raises(CommandError, match="it cannot be written"):
        report("--labels", str(file), "--scheme", "questions", "--figure", str(nowhere))
    with pytest.raises(CommandError, match="nothing to draw"):
        report("--labels", str(file), "--figure", str(tmp_path / "none.svg"))
    with pytest.raises(CommandError, match="leave --predictions and --sample out"):
        report("--sample", str(tmp_path / "new.csv"), "--figure", str(figure))
    with pytest.raises(CommandError, match=r"has no label scheme 'none'\. Known: questions"):
        report("--labels", str(file), "--scheme", "none")
    with pytest.raises(CommandError, match="give --labels FILE"):
        report("--scheme", "questions")
    with pytest.raises(CommandError, match="cannot be read"):
        report("--labels", str(tmp_path / "missing.csv"))
