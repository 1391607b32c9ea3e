"""Dialog acts are scored against the majority; ties fall the same way each time."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.quac.majority import accuracies, majority

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
