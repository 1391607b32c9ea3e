"""The folds have the paper's shares of dialogs, however often their sections are talked about."""

import random
from collections import Counter
from typing import Any

import pytest

from annotation.protocols.quac.splits import plan
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import FOLDS

# QuAC 4: 83.5k, 7.3k and 7.3k questions.
PAPER = {"train": 100 * 835 / 981, "dev": 100 * 73 / 981, "test": 100 * 73 / 981}


def sections(number: int, start: int = 0) -> list[dict[str, str]]:
    """Return sections of different texts."""
    return [{"key": f"s{at}", "text": f"Section {at}."} for at in range(start, start + number)]


def dialogs(planned: Counter[str], parameters: Any) -> dict[str, float]:
    """Return the folds' shares of dialogs in percent."""
    held = {fold: planned[fold] * parameters.dialog.redundancy.of(fold) for fold in FOLDS}
    return {fold: 100 * number / sum(held.values()) for fold, number in held.items()}


@pytest.mark.parametrize(
    "redundancy",
    [
        {},
        {"dialog.redundancy.train": 1},
        {"dialog.redundancy.train": 3, "dialog.redundancy.dev": 2},
    ],
)
def test_a_thousand_sections_give_dialogs_as_the_paper_has_questions(
    redundancy: dict[str, int],
) -> None:
    parameters: Any = get_protocol("quac").parameters(redundancy)
    first = Counter(plan(sections(600), parameters, random.Random(1)).values())
    later = plan(sections(400, 600), parameters, random.Random(2), planned=first)
    planned = first + Counter(later.values())
    assert planned.total() == 1000
    assert dialogs(planned, parameters) == pytest.approx(PAPER, abs=0.2)
