"""What a requester can do is one function beside its rows; pages and commands call it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_architecture import ROOT, sources

MAKES = {"bulk_create", "bulk_update", "create", "get_or_create", "save", "update_or_create"}
# What has these methods and is no row: a cache, a bar that shows how far a command is.
NO_ROWS = {"bar", "bars", "cache", "progress"}


def callers() -> Iterator[Path]:
    """Yield the requester's pages, and the commands."""
    for path in sources("collector", "tasks", "annotation"):
        parts = path.relative_to(ROOT).parts
        if parts[:2] == ("annotation", "dashboard") or "commands" in parts:
            yield path


def writes(code: str) -> list[str]:
    """Return every call in some code that makes, changes or deletes rows."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        on, method = node.func.value, node.func.attr
        if isinstance(on, ast.Name) and on.id in NO_ROWS:
            continue
        # A dictionary is updated by its name; rows are updated by what finds them.
        finds = isinstance(on, ast.Call) or (
            isinstance(on, ast.Attribute) and on.attr in ("objects", "all")
        )
        if method in MAKES or method == "delete" or (method == "update" and finds):
            found.append(ast.unparse(node))
    return found


def test_no_page_and_no_command_writes_rows_by_itself() -> None:
    paths = list(callers())
    assert len(paths) > 50
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in paths
        if (found := writes(path.read_text("utf-8")))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "code",
    [
        "Stage.objects.filter(pk=1).update(state=2)",
        "Stage.objects.update(state=2)",
        "collection.texts.create(name='consent')",
        "user.save()",
        "row.delete()",
        "rows(desk).filter(pk=1).delete()",
    ],
)
def test_a_write_is_seen_in_whatever_way_it_is_made(code: str) -> None:
    assert writes(code) == [code]


def test_what_is_no_row_may_be_changed() -> None:
    assert writes("cache.delete('tries'); bar.update(1); shown.update(name='pilot')") == []
