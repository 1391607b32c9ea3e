"""A release, an upload, a fold and indexes are killed at every statement."""

from pathlib import Path

import pytest

from tests.killed_jobs import KINDS
from tests.rehearsals import SHARE
from tests.test_killed_jobs import killed


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_killed_at_any_statement_is_finished_once_or_given_up(
    kind: str, tmp_path: Path
) -> None:
    n_points = killed(kind, tmp_path / "home", max(1, round(1 / SHARE)))
    print(f"{kind}: killed at {n_points} points, once and each time.")
