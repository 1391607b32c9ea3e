"""What a requester's page begins: a baseline in a process of its own, which says how far it is."""

import json
from pathlib import Path

import pytest

from annotation.baselines.tests.toy import make_protocol, write_sums
from common.actions import ActionError
from common.watched_process import WatchedProcess


def train(tmp_path: Path, name: str = "adder") -> None:
    """Train in tmp_path as a job does; raises ReaderDied."""
    protocols = make_protocol(tmp_path / "protocols").parent
    work = {
        "protocol": "sums",
        "name": name,
        "train": [str(write_sums(tmp_path / "train.json", 22, 1))],
        "dev": str(write_sums(tmp_path / "dev.json", 6, 2)),
        "recipe": "small",
        "seed": 3,
    }
    (tmp_path / "work.json").write_text(json.dumps(work))
    process = WatchedProcess(tmp_path)
    process.run("-m", "annotation.baselines", str(tmp_path), COLLECTOR_PROTOCOLS=str(protocols))
    try:
        assert process.is_over(wait_seconds=120)
        process.check()
    finally:
        process.stop()


def test_it_trains_says_how_far_it_is_and_keeps_the_scores(tmp_path):
    train(tmp_path)
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["columns"] == ["", "right"]
    assert (tmp_path / "out" / scores["predictions"]).exists()
    assert json.loads((tmp_path / "progress.json").read_text())["step"]


def test_what_is_wrong_is_said_in_one_line(tmp_path):
    with pytest.raises(ActionError, match=r"^There is no baseline 'nobody': choose one of adder, "):
        train(tmp_path, name="nobody")
