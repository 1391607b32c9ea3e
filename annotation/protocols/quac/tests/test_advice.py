"""What a student is advised: nothing that released questions would have been told wrongly."""

import json
import re
from pathlib import Path

import pytest

from annotation.protocols.quac import checks

README = Path(checks.__file__).parent / "README.md"


def test_a_question_without_its_mark_is_left_in_peace() -> None:
    data = {"entries": [{"item": "0", "fields": {"question": "What happened to these men"}}]}
    assert checks.problems("text", data, [], None, None) == []


@pytest.mark.data
def test_of_real_questions_almost_one_in_ten_has_no_mark(data: Path) -> None:
    dialogs = json.loads((data / "replay/quac_dialogs_from_canard.json").read_text("utf-8"))
    asked = [turn["q"] for dialog in dialogs for turn in dialog["turns"]]
    unmarked = [question for question in asked if not question.rstrip().endswith("?")]
    said = re.search(
        r"of ([\d,]+) questions of released dialogs\s+(\d+) have none", README.read_text()
    )
    assert said
    assert [int(figure.replace(",", "")) for figure in said.groups()] == [len(asked), len(unmarked)]
    # One in twenty would be the most.
    assert len(unmarked) * 20 > len(asked)
