"""Bad files, as the commands meet them: one line each, and nothing of them is stored."""

import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import CommandError, call_command

from collector.models import Collection, Corpus, Seed
from tasks.models import Answer, Question
from tasks.tests.making import make_corpus

pytestmark = pytest.mark.django_db
SAMPLE = json.loads((Path(__file__).parents[1] / "sample.json").read_text("utf-8"))
PROTOCOLS = Path(site.BASE_DIR) / "annotation/protocols"
STORED = (Corpus, Collection, Seed, Question, Answer)


def refused(*command: Any, **options: Any) -> str:
    """Return the one line in which a command refuses."""
    with pytest.raises(CommandError) as caught:
        call_command(*map(str, command), **options, stdout=StringIO())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def without_column(text: str, column: str) -> str:
    """Return a table whose first line calls a column something else."""
    head, _, rest = text.partition("\n")
    assert column in head.split(",")
    return f"{head.replace(column, 'x', 1)}\n{rest}"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("documents.csv", "document_id"),
        ("documents.csv", "set"),
        ("qaps.csv", "answer2"),
        ("qaps.csv", "document_id"),
        ("summaries.csv", "summary"),
        ("summaries.csv", "document_id"),
    ],
)
def test_a_published_table_without_a_column_is_refused(
    tmp_path: Path, name: str, column: str
) -> None:
    files = {**SAMPLE, name: without_column(SAMPLE[name], column)}
    assert f"{name} lacks the column {column}" in imported(tmp_path, files)
    assert [model.objects.count() for model in STORED] == [0] * len(STORED)


def test_a_published_pair_of_a_book_that_is_not_there_is_refused(tmp_path: Path) -> None:
    head, first = SAMPLE["qaps.csv"].splitlines()[:2]
    document = first.partition(",")[0]
    # The last of a thousand rows: those before it are not kept either.
    rows = [first.replace("?", f" {number}?", 1) for number in range(1000)]
    lost = first.replace(document, "nowhere", 1)
    files = {**SAMPLE, "qaps.csv": "\n".join([head, *rows, lost, ""])}
    assert "documents.csv has no document 'nowhere'" in imported(tmp_path, files)
    assert [model.objects.count() for model in STORED] == [0] * len(STORED)


def imported(folder: Path, files: dict[str, str]) -> str:
    """Return the line in which the published files are refused."""
    paths = [folder / name for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_bytes(text.encode())
    return refused("import_dataset", "old", *paths, protocol="bookqa")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            'value = "event trigger",',
            'value = "event trigger", over = ["causal"],',
            "fields.0.choices.4.over: in 'question_type' these win over one another in a circle: "
            "'event trigger', 'causal'",
        ),
        (
            '{ value = "entity",',
            '{ value = "entity", key = "e" }, { value = "other", key = "e",',
            "fields.1.choices.1.key: two labels of 'answer_unit' have the key 'e'",
        ),
        ('value = "causal"', 'value = "nested"', "two labels of 'question_type' are the same"),
        ("[[fields]]", "[fields", "questions.toml is not valid TOML: "),
    ],
)
def test_a_collection_by_a_wrong_scheme_is_not_created(
    tmp_path: Path, settings: Any, before: str, after: str, said: str
) -> None:
    folder = tmp_path / "stories"
    shutil.copytree(PROTOCOLS / "bookqa", folder, ignore=shutil.ignore_patterns("tests"))
    scheme = folder / "labels/questions.toml"
    text = scheme.read_text("utf-8")
    assert before in text
    scheme.write_text(text.replace(before, after, 1), "utf-8")
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, tmp_path]
    make_corpus()
    told = refused("create_collection", "c", protocol="stories", corpus="hollin")
    assert said in told
    assert str(scheme) in told
    assert not Collection.objects.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,question_type,answer_unit\na,cause,state\n", "Row 1: question_type must be one of"),
        ("id,question_type,answer_unit\na,causal,\n", "Row 1: label all of question_type"),
        ("id,answer_unit\na,state\n", "Row 1: there is no column question_type"),
    ],
)
def test_a_file_with_a_type_that_is_none_is_refused_by_its_row(
    tmp_path: Path, text: str, said: str
) -> None:
    paths = [tmp_path / name for name in SAMPLE]
    for path, content in zip(paths, SAMPLE.values(), strict=True):
        path.write_bytes(content.encode())
    call_command("import_dataset", "old", *map(str, paths), protocol="bookqa", stdout=StringIO())
    file = tmp_path / "labels.csv"
    file.write_text(text, "utf-8")
    for options in ({}, {"scheme": "questions"}):
        assert said in refused("report", "old", labels=file, **options)
    assert "Known: questions." in refused("report", "old", labels=file, scheme="none")
