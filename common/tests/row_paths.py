"""Which modules of ours are passed on the way to a row: those on the stack as it is written."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from common import prepared_sql

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("common", "collector", "tasks", "annotation", "readers", "marketplace")


def watch_writes(monkeypatch: pytest.MonkeyPatch, model: type[Model]) -> list[list[str]]:
    """Return a list that gets the way to each row of `model` that is inserted or updated.

    A way is the modules of ours whose functions wait for the statement, the outermost first.
    """
    writes = re.compile(rf'(INSERT INTO|UPDATE) "?{model._meta.db_table}"?\s')
    ways: list[list[str]] = []

    def note(*statements: str) -> None:
        if any(writes.search(sql) for sql in statements):
            ways.append(_modules_on_stack())

    run, execute = prepared_sql._run, CursorWrapper.execute

    def watched_run(statements: Any, *args: Any) -> Any:
        note(*(sql for sql, _ in statements))
        return run(statements, *args)

    def watched_execute(cursor: Any, sql: str, *args: Any) -> Any:
        note(sql)
        return execute(cursor, sql, *args)

    monkeypatch.setattr(prepared_sql, "_run", watched_run)
    monkeypatch.setattr(CursorWrapper, "execute", watched_execute)
    return ways


def _modules_on_stack() -> list[str]:
    found: dict[str, None] = {}
    frame = sys._getframe(1)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if parts[0] in ROOMS and "tests" not in parts:
                found[".".join(parts)] = None
        frame = frame.f_back  # type: ignore[assignment]
    return list(found)[::-1]
