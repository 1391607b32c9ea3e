"""What a backup tells of itself is read in sentences: that it is whole, stale, or no copy."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from collector.serving import backups

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
AT = NOW.timestamp()
WELL = {
    "as_of": AT - 3,
    "stale_at": AT + 57,
    "behind_bytes": 0,
    "problem": "",
    "drill": {"at": AT - 3600, "seconds": 6.9, "problems": []},
}


@pytest.fixture
def home(settings: Any, tmp_path: Path) -> Path:
    """Return an empty home."""
    settings.HOME = tmp_path
    return tmp_path


def said(home: Path, at: datetime = NOW, **changed: Any) -> list[str]:
    """Return what is wrong with a backup that has told this."""
    (home / "backup.json").write_text(json.dumps({**WELL, **changed}))
    known = backups.status()
    assert known
    return known.problems(at)


def test_one_that_is_kept_up_to_date_and_was_restored_is_well(home: Path) -> None:
    assert said(home) == []


@pytest.mark.parametrize("minutes", [1, 60])
def test_one_that_stopped_is_stale_a_minute_later(home: Path, minutes: int) -> None:
    [why] = said(home, NOW + timedelta(minutes=minutes))
    assert why.endswith("29 November 2026, 11:59 UTC: deploy.backup does not run: start it.")


def test_one_that_cannot_copy_says_why(home: Path) -> None:
    [why] = said(home, stale_at=AT - 1, problem="No space left on device.")
    assert why.endswith("29 November 2026, 11:59 UTC: No space left on device.")
    [never, _] = said(home, as_of=0, stale_at=0, problem="It is empty.", drill={})
    assert never == "The newest copy is as of no time at all: It is empty."


@pytest.mark.parametrize("drill", [{}, {**WELL["drill"], "at": AT - 27 * 3600}])
def test_a_copy_that_nobody_has_restored_for_a_day_is_none(home: Path, drill: Any) -> None:
    [why] = said(home, drill=drill)
    assert why.startswith("The last copy that was restored to try it is of ")


def test_what_a_restored_copy_lacked_is_said(home: Path) -> None:
    [why] = said(home, drill={**WELL["drill"], "problems": ["a file is missing."]})
    assert why == "A copy was restored, and a file is missing."


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"drill": {}}', '{"drill": 3}'])
def test_what_is_no_such_file_is_no_backup(home: Path, text: str) -> None:
    assert backups.status() is None
    (home / "backup.json").write_text(text)
    assert backups.status() is None
    assert backups.problems() == []
