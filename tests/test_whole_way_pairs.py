"""From dumps of real text to released pairs in both settings, by readers and a second reading.

The suite asks for some pairs; the rehearsals ask for five hundred.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.hotpotqa.file_format import FILES, WITHHELD
from collector.ingest.segmentation import split, tokens
from tests.serving import Instance, serving

DUMPS = ("enwiki-rock-performers-2025.xml.bz2", "enwiki-rappers-eastcoast-2023.xml.bz2")
SETTINGS = {
    "pay.approve_after_hours": "0",
    "seeds.keep_defaults": "true",
    "difficulty.folds": "2",
    "human_performance.sample_questions": "5",
    "human_performance.items_per_hit": "5",
    # Five splits of few questions.
    "splits.train_hard": "1",
    "splits.dev": "1",
    "splits.test_distractor": "1",
    "splits.test_fullwiki": "1",
}


def collect(instance: Instance, dumps: list[Path], out: Path, n_pairs: int, n_workers: int) -> None:
    """Walk every step a requester would type, with simulated workers."""
    changed = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    crowd = ["--workers", str(n_workers), "--seed", "3"]
    named = [str(dump) for dump in dumps]
    instance.run("ingest_dump", *named, "--corpus", "read", "--licence", "CC BY-SA 4.0")
    instance.run("build_graph", "read")
    create = ["--protocol", "hotpotqa", "--corpus", "read", "--budget", "9000", "--seed", "3"]
    instance.run("create_collection", "whole", *create, *changed)
    instance.run("select_seeds", "whole", "--count", str(n_pairs))
    instance.run("publish", "whole")
    instance.run("simulate", "whole", *crowd)
    instance.run("validate_answers", "whole")
    instance.run("judge_difficulty", "whole", "--as-multi-hop")
    instance.run("make_splits", "whole")
    instance.run("simulate", "whole", *crowd)
    instance.run("build_index", "read")
    instance.run("export_dataset", "whole", "--out", str(out))


@pytest.mark.pure
def test_a_dump_becomes_released_pairs(tmp_path: Path, data: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    home.mkdir()
    with serving(home) as instance:
        collect(instance, [data / "wiki" / DUMPS[-1]], out, 25, 5)
        check_report(instance)
    # Readers learn little from so few questions.
    check_release(out, 25, {"hard"})


def check_report(instance: Instance) -> None:
    """Simulated readers count as nobody in the table of people, and ranks were counted."""
    report = json.loads(instance.run("report", "whole", "--json"))
    assert report["human_performance"]["rows"] == []
    assert report["human_performance"]["note"]
    assert report["retrieval"]["rows"]


def check_release(out: Path, least: int, levels: set[str]) -> None:
    """Every file has questions whose answers and facts are in the text they are about."""
    items: dict[str, dict[str, Any]] = {}
    for file in FILES:
        public = json.loads((out / file.name).read_text())
        private = out.with_name(f"{out.name}-private") / file.name
        withheld = {name for name in file.splits if name in WITHHELD}
        assert public, f"{file.name} is empty"
        if withheld:
            assert all(set(item) == {"_id", "question", "context"} for item in public)
            assert {item["_id"] for item in public}.isdisjoint(items)
        whole = json.loads(private.read_text()) if withheld else public
        assert [item["_id"] for item in whole] == [item["_id"] for item in public]
        for item in whole:
            check_item(item, file.setting)
            items[item["_id"]] = item
    assert len(items) >= least
    assert {item["type"] for item in items.values()} == {"bridge", "comparison"}
    assert {item["level"] for item in items.values()} >= levels
    assert {"yes", "no"} & {item["answer"] for item in items.values()}


def check_item(item: dict[str, Any], setting: str) -> None:
    """The answer covers whole tokens of gold text, facts are sentences of two paragraphs."""
    context = dict(item["context"])
    assert len(context) == len(item["context"]) <= 10
    gold = {title for title, _ in item["supporting_facts"]}
    assert len(gold) == 2
    if setting == "fullwiki" and not gold <= set(context):
        return
    assert len(context) == 10
    for title, number in item["supporting_facts"]:
        assert context[title][number].strip()
    for title in gold:
        text = "".join(context[title])
        assert [text[start:end] for start, end in split(text, "en")] == [
            sentence.strip() for sentence in context[title]
        ]
    if item["answer"] not in ("yes", "no"):
        assert any(is_span(item["answer"], "".join(context[title])) for title in gold)


def is_span(answer: str, text: str) -> bool:
    """Return whether the answer is somewhere in the text as whole tokens."""
    found = tokens(text, "en")
    starts, ends = {start for start, _ in found}, {end for _, end in found}
    places = (at for at in range(len(text)) if text.startswith(answer, at))
    return any(at in starts and at + len(answer) in ends for at in places)
