"""What a requester's page tells to type is typed as it stands, and ends in a released dataset."""

import json
import re
import shlex
from pathlib import Path

from tests.serving import ROOT, serving

PAGE = (ROOT / "docs" / "requester.md").read_text("utf-8")


def typed(heading: str, number: int = 0) -> list[list[str]]:
    """Return the commands of a block of code under a heading, each with its arguments."""
    part = PAGE.partition(f"\n## {heading}\n")[2]
    block = re.findall(r"^```\n(.*?)^```", part, re.MULTILINE | re.DOTALL)[number]
    lines = [line.partition("manage.py ")[2] for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


def test_a_day_leads_from_the_sample_to_a_release(tmp_path: Path) -> None:
    """Only where the files of a release go is another folder than the page names."""
    home, out = tmp_path / "home", tmp_path / "releases" / "pilot"
    home.mkdir()
    day = typed("A day")
    assert [command[0] for command in day][-2:] == ["export_dataset", "report"]
    with serving(home) as instance:
        for command in day:
            instance.run(*(str(out) if word == "releases/pilot" else word for word in command))
        log = tmp_path / "pilot.log.jsonl"
        keep = typed("A day", 2)[0]
        instance.run(*(str(log) if word == "pilot.log.jsonl" else word for word in keep))
        assert log.stat().st_size > 0
    assert all((out / name).is_file() for name in ("dev.json", "test.json", "SHA256SUMS"))
    passages = json.loads((out / "train.json").read_text())
    assert any(passage["questions"] for passage in passages)


def test_sets_of_pairs_are_proposed_from_the_sample(tmp_path: Path) -> None:
    home, titles = tmp_path / "home", tmp_path / "places.txt"
    home.mkdir()
    titles.write_text("Quarnsey\n", "utf-8")
    with serving(home) as instance:
        instance.run(*typed("A day")[0])
        for command in typed("A day", 1):
            instance.run(*(str(titles) if word == "places.txt" else word for word in command))
