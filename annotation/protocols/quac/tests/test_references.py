"""Dialog acts are scored against the majority; ties fall the same way each time."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.quac.turns import accuracies, majority, read_labels
from annotation.release.row_tables import write_votes

LABELS = st.lists(st.sampled_from("ynx"), min_size=1, max_size=6)


@given(LABELS, st.integers())
def test_the_majority_is_a_label_that_no_other_outnumbers(labels: list[str], seed: int) -> None:
    found = majority(labels, random.Random(seed))
    assert labels.count(found) == max(map(labels.count, labels))
    assert found == majority(labels, random.Random(seed))


def test_a_system_and_people_are_compared_with_the_majority() -> None:
    labels = {
        "yes/no": {"a": ["yes", "yes", "no"], "b": ["neither"] * 2, "left out": ["no", "yes"]},
        "followup": {"a": ["maybe"], "b": ["dont"]},
    }
    predicted = {"yes/no": {"a": "y"}, "followup": {"a": "m", "b": "m"}}
    found = accuracies(["a", "b"], predicted, labels)
    assert found["yes/no, majority"] == 50.0
    assert found["followup, majority"] == 50.0
    assert "followup, people" not in found
    # Of a's three the one who said no never agrees; the others meet a tie of yes and no.
    assert found["yes/no, people"] in (50.0, pytest.approx(200 / 3), pytest.approx(250 / 3))


def test_labels_that_nobody_gave_are_not_read(tmp_path: Path) -> None:
    """A simulated validator's vote, and the label that a replay filled in, are no labels."""
    votes = [vote("yes", stage="dialog", continuation="maybe"), vote("no"), vote("yes")]
    votes += [vote("no", synthetic=True), vote(None, synthetic_fields=["affirmation"])]
    question = {"id": "q", "text": "Was it?", "worker": None, "synthetic": False, "split": "dev"}
    question |= {"payload": {}, "verdict": None, "votes": votes}
    path = tmp_path / "votes.parquet"
    write_votes(path, [{"id": "s", "questions": [question]}])  # type: ignore[list-item]
    assert read_labels(path) == {
        "yes/no": {"q": ["yes", "no", "yes"]},
        "followup": {"q": ["maybe"]},
    }


def vote(affirmation: str | None, **values: Any) -> dict[str, Any]:
    """Return the record of a vote that says yes, no, neither, or nothing of it."""
    names = ("continuation",)
    acts = {"affirmation": affirmation} | {name: values.pop(name, None) for name in names}
    given = {name: act for name, act in acts.items() if act}
    blank = {"worker": None, "hit_seconds": None, "hit_items": None, "chosen": False}
    shared = {"stage": "validation", "type": "none", "agrees": False, "synthetic": False}
    return {**blank, **shared, "payload": given, **values}
