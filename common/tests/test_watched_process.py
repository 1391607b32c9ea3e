"""A reader says how far it is: the share of what it is at, and how long the rest takes."""

import json
from pathlib import Path

import pytest

from common import watched_process
from common.watched_process import Progress, WatchedProcess

pytestmark = pytest.mark.pure


def test_the_rest_takes_as_long_as_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(watched_process.time, "monotonic", lambda: now)
    tell, watched = Progress(tmp_path), WatchedProcess(tmp_path)
    assert watched.progress() == ("Starting", 0.0, None)
    tell("first", 20, 100)
    assert watched.progress() == ("first", 0.2, None), "nothing was seen to be done yet"
    now += 10
    tell("first", 40, 100)
    assert watched.progress() == ("first", 0.4, 30.0)
    now += 1
    tell("second", 0, 50)
    assert watched.progress() == ("second", 0.0, None)
    now += 5
    tell("second", 10, 50)
    assert watched.progress() == ("second", 0.2, 20.0)
    assert json.loads((tmp_path / "progress.json").read_text())["step"] == "second"
