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
    """Only the files that it writes and brings are in another folder than the page names."""
    home, out = tmp_path / "home", tmp_path / "releases" / "pilot"
    home.mkdir()
    (tmp_path / "places.txt").write_text("Quarnsey\n", "utf-8")
    files = {name: str(tmp_path / name) for name in ("places.txt", "pilot.log.jsonl")}
    files["releases/pilot"] = str(out)
    day, pairs, keep = typed("A day"), typed("A day", 2), typed("A day", 4)[:1]
    assert [command[0] for command in day][-2:] == ["export_dataset", "report"]
    assert [command[0] for command in pairs][-1] == "import_candidates"
    assert [command[0] for command in keep] == ["export_dataset"]
    with serving(home) as instance:
        for command in [*day, *pairs, *keep]:
            instance.run(*(files.get(word, word) for word in command))
    assert (tmp_path / "pilot.log.jsonl").stat().st_size > 0
    assert all((out / name).is_file() for name in ("dev.json", "test.json", "SHA256SUMS"))
    passages = json.loads((out / "train.json").read_text())
    assert any(passage["questions"] for passage in passages)
