"""What the public file holds comes back through the pages, letter by letter."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.hotpotqa import checks, simulated
from annotation.protocols.hotpotqa.tests.pages import page, paragraph
from collector.protocols.loading import get_protocol
from tasks.simulation.behaviour import DILIGENT
from tasks.work.widgets import pairs

pytestmark = pytest.mark.pure
OFFICIAL = Path("official", "hotpotqa", "reflexion_100_distractor_official_nesting.json")


def items_of(replay: simulated.Replay) -> list[dict[str, Any]]:
    """Return the page's items that a corpus of the replay's own pages leads to."""
    texts = {title: paragraphs[0][1] for title, paragraphs in replay.pages()}
    cut = replay.sentences()
    return [
        {
            "id": str(number),
            "type": payload["type"],
            "form": payload["form"],
            "paragraphs": [
                paragraph(at, title, texts[title], cut[title]) for at, title in enumerate(titles)
            ],
        }
        for number, (titles, payload) in enumerate(replay.seeds())
    ]


def test_all_of_the_official_items_are_typed_exactly(data: Path) -> None:
    official = json.loads((data / OFFICIAL).read_text())
    replay = simulated.replay(data / OFFICIAL)
    items = items_of(replay)
    typed, is_real = replay.fill(page(items), DILIGENT, random.Random(1), None)
    assert is_real
    parameters: Any = get_protocol("hotpotqa").parameters(replay.overrides())
    cleaned, problems = pairs.clean_written(typed, items, parameters.checks)
    assert problems == []
    found = checks.problems("pair", cleaned, items, parameters.question, parameters)
    assert [problem for problem in found if not problem.hint] == []
    for item, written, true in zip(items, cleaned["pairs"], official, strict=True):
        titles = [one["title"] for one in item["paragraphs"]]
        assert written["text"] == true["question"].strip()
        answer = written["spans"][0]["text"] if written["type"] == "span" else written["type"]
        assert answer == true["answer"]
        facts = [[titles[document], sentence] for document, sentence in written["facts"]]
        assert sorted(facts) == sorted(true["supporting_facts"])
        assert item["type"] == true["type"]
        context = dict(true["context"])
        assert [one["text"] for one in item["paragraphs"]] == ["".join(context[t]) for t in titles]


@pytest.mark.parametrize("content", ["[]", "{}", "[1]", "no", '[{"question": "Who?"}]'])
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"wrong\.json"):
        simulated.replay(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        simulated.replay(tmp_path / "nowhere.json")
