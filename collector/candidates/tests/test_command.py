"""import_candidates proposes what it is given, once, and says what it made of it."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.candidates.tests.making import make_pairs
from collector.models import Collection


def imported(*arguments: str, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("import_candidates", *arguments, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def test_files_categories_list_pages_and_sets_of_others(pilot: Collection, tmp_path: Path) -> None:
    path = tmp_path / "My towns.txt"
    path.write_text("\ufeff# by hand\nHollin\n\nQuern\nNowhere\n", "utf-8")
    made = imported(
        "pilot", str(path), "--category", "Towns", "--list-page", "List of towns", "--keep"
    )
    assert [(each["name"], each["pages"], each["missing"]) for each in made["new"]] == [
        ("My towns", 2, 1),
        ("Towns", 3, 0),
        ("List of towns", 2, 0),
    ]
    assert {each["state"] for each in made["new"]} == {"kept"}
    assert imported("pilot", "--category", "Towns") == {"new": [], "there": ["Towns"]}
    make_pairs(pilot.corpus, "other")
    assert len(imported("other", "--from", "pilot")["new"]) == 3
    whole = imported("other", "--category", "Towns", "--role", "comparison")
    assert [each["pages"] for each in whole["new"]] == [4]


def test_defaults_and_words_for_people(pilot: Collection) -> None:
    out = StringIO()
    call_command("import_candidates", "pilot", "--defaults", stdout=out)
    assert "3 pages  Towns (proposed)" in out.getvalue()
    out = StringIO()
    call_command("import_candidates", "pilot", "--category", "Towns", stdout=out)
    assert out.getvalue() == "There already, and left as they are: Towns.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pilot"], "Nothing was named"),
        (["nobody"], "no collection 'nobody'"),
        (["pilot", "missing.txt"], r"missing\.txt"),
        (["pilot", "--category", "Rivers"], "no category 'Rivers'"),
    ],
)
def test_what_cannot_be_imported(pilot: Collection, arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        imported(*arguments)


def test_what_is_no_text_or_no_collection_of_pairs(pilot: Collection, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\xff")
    with pytest.raises(CommandError, match="no text in UTF-8"):
        imported("pilot", str(path))
    Collection.objects.update(protocol="iirc")
    with pytest.raises(CommandError, match="no pairs"):
        imported("pilot", "--defaults")
