"""What a report says of how labellers agree: by facet, by labeller and by pair."""

import random
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation.agreement.kappa import fleiss_kappa
from annotation.tables.labels import Agreement
from annotation.tables.table import Table
from collector.protocols.loading import Protocol

pytestmark = pytest.mark.pure
FOLDER = Path(settings.BASE_DIR) / "tests/protocols/headline"
GROUPS = {"glad": "bright", "proud": "bright", "wry": "dark"}
FIELDS = [
    {
        "name": "tone",
        "label": "Which tone?",
        "groups": "shade",
        "choices": [{"value": value, "group": group} for value, group in GROUPS.items()],
    },
    {"name": "length", "label": "How long?", "choices": [{"value": "long"}, {"value": "short"}]},
    {"name": "note", "label": "Note", "required": False},
]


def question(
    number: int, *labels: tuple[str, str, str], stage: str = "label", synthetic: bool = False
) -> Any:
    """Return a question's record with (labeller, tone, length) of each vote."""
    votes = [
        {
            "stage": stage,
            "worker": who,
            "type": tone,
            "payload": {"fields": {"length": length, "note": "x"}},
            "synthetic": who.startswith("simulated"),
        }
        for who, tone, length in labels
    ]
    return {"id": f"q{number}", "synthetic": synthetic, "votes": votes}


def tables(*questions: Any) -> dict[str, Table]:
    agreement = Agreement(Protocol("headline", FOLDER).parameters({"label.fields": FIELDS}))
    seeds: Any = [{"questions": list(questions)}]
    assert list(agreement.watch(seeds)) == seeds
    return {table.name: table for table in agreement.tables()}


def test_each_facet_and_each_group_of_labels_has_its_coefficients() -> None:
    found = tables(
        question(1, ("ada", "glad", "long"), ("grace", "proud", "long")),
        question(2, ("ada", "wry", "long"), ("grace", "wry", "short")),
        question(3, ("ada", "glad", "short"), ("edith", "glad", "short")),
        question(4, ("ada", "glad", "short")),
    )
    rows = {row[0]: row[1:] for row in found["label_agreement"].rows}

    # One vote tells nothing of agreement: the fourth is no item of it.
    assert rows["tone"][:3] == [3, 3, pytest.approx(2 / 3)]
    assert rows["shade"][:3] == [3, 3, 1.0]
    assert rows["length"][:3] == [3, 3, pytest.approx(2 / 3)]
    assert rows["tone"][4] == fleiss_kappa([[1, 1, 0], [0, 0, 2], [2, 0, 0]])
    assert "note" not in rows


def test_where_all_votes_are_one_label_a_dash_stands_for_what_chance_explains() -> None:
    found = tables(
        question(1, ("ada", "glad", "long"), ("grace", "glad", "long")),
        question(2, ("ada", "glad", "long"), ("grace", "glad", "long")),
    )["label_agreement"]
    (tone,) = (row for row in found.rows if row[0] == "tone")
    assert dict(zip(found.columns[3:], tone[3:], strict=True)) == {
        "Simple agreement": 1.0,
        "Fleiss' kappa": None,
        "Krippendorff's alpha": None,
        "Gwet's AC1": 1.0,
        "95 % interval": None,
    }


def test_what_is_simulated_tells_nothing_of_how_people_agree() -> None:
    asked = [
        question(
            1, ("ada", "glad", "long"), ("grace", "wry", "long"), ("simulated", "wry", "long")
        ),
        question(2, ("ada", "glad", "long"), ("grace", "glad", "long"), synthetic=True),
    ]
    found = tables(*asked)
    assert [list(row)[1:4] for row in found["label_agreement"].rows if row[0] == "tone"] == [
        [1, 2, 0.0]
    ]
    assert all(table.of_people for table in found.values())
    assert tables(question(3, ("simulated 1", "wry", "long"), ("simulated 2", "wry", "long"))) == {}


def test_pairs_of_labellers_are_confused_by_row_and_nobody_is_named() -> None:
    found = tables(
        *(question(n, ("ada", "glad", "long"), ("grace", "proud", "long")) for n in range(3)),
        question(9, ("ada", "glad", "long"), ("grace", "glad", "long")),
    )

    assert [list(row) for row in found["pairs_tone"].rows] == [
        ["labeller 1, labeller 2", 4, 0.25, pytest.approx(0.0)]
    ]
    heat = found["confusion_tone"]
    assert list(heat.rows[0]) == ["labeller 1, labeller 2", "glad", 4, 0.25, 0.75]
    assert heat.is_shaded(3)
    # All labels of the length are the same: nothing is left to chance, and no kappa is defined.
    assert list(found["pairs_length"].rows[0]) == ["labeller 1, labeller 2", 4, 1.0, None]
    assert "ada" not in str(found)


def test_accuracies_wait_for_enough_items_and_find_the_one_who_guesses() -> None:
    rng = random.Random(1)
    several = []
    for number in range(60):
        tone = rng.choice(list(GROUPS))
        others = [(who, tone, "long") for who in ("ada", "grace", "edith")]
        guess = rng.choice(list(GROUPS))
        several.append(question(number, *others, ("mallory", guess, "long")))

    rows = tables(*several)["accuracy_tone"].rows

    assert [row[0] for row in rows] == [f"labeller {number}" for number in (1, 2, 3, 4)]
    assert all(isinstance(row[2], float) and row[2] > 0.95 for row in rows[:3])
    assert isinstance(rows[3][2], float)
    assert rows[3][2] < 0.6
    assert "accuracy_tone" not in tables(*several[:5])
    assert tables(*several)["pairs_tone"].note == ""


def test_two_labels_an_item_tell_nobody_s_accuracy() -> None:
    by_two = [
        question(number, ("ada", "glad", "long"), ("grace", "wry", "long")) for number in range(60)
    ]
    found = tables(*by_two)
    assert "accuracy_tone" not in found
    assert "which is right" in found["pairs_tone"].note


def test_whoever_shared_no_item_is_no_labeller_of_what_several_labelled() -> None:
    rows = tables(
        question(1, ("ada", "glad", "long"), ("grace", "glad", "long")),
        question(2, ("edith", "glad", "long")),
    )["label_agreement"].rows
    assert {row[2] for row in rows} == {2}


def test_a_collection_without_labels_of_several_has_no_such_tables() -> None:
    assert tables() == {}
    assert tables(question(1, ("ada", "glad", "long"))) == {}
    assert tables(question(1, ("ada", "x", ""), ("grace", "y", ""), stage="text")) == {}
