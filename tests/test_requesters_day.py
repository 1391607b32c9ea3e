"""What a requester's page tells to type is typed as it stands, and ends in a released dataset."""

import json
import re
import shlex
import zipfile
from pathlib import Path

from tests.serving import ROOT, serving

PAGE = (ROOT / "docs" / "requester.md").read_text("utf-8")
STORIES = ROOT / "deploy" / "sample" / "books"


def typed(heading: str, number: int = 0) -> list[list[str]]:
    """Return the commands of a block of code under a heading, each with its arguments."""
    part = PAGE.partition(f"\n## {heading}\n")[2]
    block = re.findall(r"^```\n(.*?)^```", part, re.MULTILINE | re.DOTALL)[number]
    lines = [line.partition("manage.py ")[2] for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


def bring_files(folder: Path) -> dict[str, list[str]]:
    """Return where each file that the page names lies: what it brings, and what it writes."""
    text = f"# Leave\n\n{'Everybody has thirty days of leave a year, when they like. ' * 6}\n"
    (folder / "handbook").mkdir()
    (folder / "handbook" / "leave.md").write_text(text, "utf-8")
    with zipfile.ZipFile(folder / "notes.zip", "w") as made:
        made.writestr("pay.md", text.replace("leave", "pay"))
    row = {"id": "faq-1", "title": "Rest", "text": text.replace("leave", "rest")}
    (folder / "faq.jsonl").write_text(json.dumps(row), "utf-8")
    (folder / "places.txt").write_text("Quarnsey\n", "utf-8")
    own = ("handbook/", "notes.zip", "faq.jsonl", "places.txt", "pilot.log.jsonl", "ranking")
    kept = ("pilot-report", "releases/pilot", "releases/pilot-2")
    stories = {
        f"{name}.csv": STORIES / f"{name}.csv" for name in ("documents", "qaps", "summaries")
    }
    return {
        **{name: [str(folder / name)] for name in (*own, *kept)},
        **{name: [str(path)] for name, path in stories.items()},
        "books/*.txt": [str(path) for path in sorted(STORIES.glob("*.txt"))],
        "dev.json": [str(folder / "releases" / "pilot" / "dev.json")],
    }


def test_a_day_leads_from_the_sample_to_a_release(tmp_path: Path) -> None:
    """Only the files that it writes and brings are in another folder than the page names."""
    home, out = tmp_path / "home", tmp_path / "releases" / "pilot"
    home.mkdir()
    files = bring_files(tmp_path)
    day, own, pairs, books = (typed("A day", number) for number in range(4))
    log, compare, tables, _, official, *_ = typed("A day", 4)
    packed = typed("What a release holds")[0]
    again = [word.replace("releases/pilot", "releases/pilot-2") for word in packed]
    assert [command[0] for command in day][-2:] == ["export_dataset", "report"]
    assert [command[0] for command in pairs][-1] == "import_candidates"
    assert [log[0], tables[0], official[0]] == ["export_dataset", "report", "import_dataset"]
    beside = [log, again, compare, tables, official]
    with serving(home) as instance:
        for command in [*day, *own, *pairs, *books, *beside]:
            instance.run(*(path for word in command for path in files.get(word, [word])))
    assert (tmp_path / "pilot.log.jsonl").stat().st_size > 0
    assert all((out / name).is_file() for name in ("dev.json", "test.json", "SHA256SUMS"))
    passages = json.loads((out / "train.json").read_text())
    assert any(passage["questions"] for passage in passages)
    assert zipfile.is_zipfile(tmp_path / "releases" / "pilot-2.zip")
    assert list((tmp_path / "ranking").iterdir())
    assert list((tmp_path / "pilot-report").iterdir())
