"""What stages of labels have brought: people's labels, draws left open, what is adjudicated."""

from typing import Any

import pytest

from annotation.tables.labels import CollectedLabels
from annotation.tables.table import Table
from annotation.tables.tests.test_agreement import FIELDS, FOLDER
from annotation.tables.tests.test_agreement import question as asked
from collector.protocols.loading import Protocol

pytestmark = pytest.mark.pure


def question(*given: Any, outcome: str = "kept", **more: Any) -> Any:
    verdict = {"outcome": outcome, "reason": "", "sentence": "", "overridden": False}
    found = asked(*given) | {"text": "A headline", "verdict": verdict, **more}
    for vote in found["votes"]:
        vote.setdefault("chosen", False)
    return found


def tables(*questions: Any) -> dict[str, Table]:
    labels = CollectedLabels(Protocol("headline", FOLDER).parameters({"label.fields": FIELDS}))
    seeds: Any = [{"questions": list(questions)}]
    assert list(labels.watch(seeds)) == seeds
    return {table.name: table for table in labels.tables()}


def rows(table: Table) -> dict[Any, list[Any]]:
    return {row[0]: list(row[1:]) for row in table.rows}


def test_the_label_that_most_people_give_counts_and_a_draw_stays_open() -> None:
    found = tables(
        question(1, ("ada", "glad", "long"), ("grace", "glad", "short"), ("ida", "wry", "long")),
        question(2, ("ada", "wry", "short")),
        question(3, ("ada", "glad", "short"), ("grace", "proud", "short")),
        question(4, ("ada", "glad", "short"), outcome="dropped"),
    )

    assert rows(found["shade"]) == {"bright": [1, 0.5], "dark": [1, 0.5]}
    assert (
        found["tone"].note
        == "3 questions are labelled. 1 labels are tied, and in no row until somebody decides."
    )
    assert rows(found["flow_tone_length"]) == {"glad": [1, 1.0, 0.0], "wry": [1, 0.0, 1.0]}
    drawn = found["flow_tone_length"].flow
    assert drawn is not None
    assert [end.label for end in drawn.targets] == ["long", "short"]


def test_what_is_adjudicated_counts_whatever_the_others_say() -> None:
    disputed = question(
        1, ("ada", "glad", "long"), ("grace", "glad", "long"), ("ida", "wry", "long")
    )
    disputed["votes"][2]["chosen"] = True
    corrected = question(2, ("ada", "glad", "long"))
    corrected["correction"] = {**corrected["votes"][0], "type": "proud", "chosen": True}

    assert rows(tables(disputed, corrected)["shade"]) == {"bright": [1, 0.5], "dark": [1, 0.5]}
    assert tables(corrected)["tone"].rows[1][2] == 1


def test_simulated_labels_count_only_where_there_are_no_other_and_the_head_says_so() -> None:
    simulated = question(1, ("simulated 1", "wry", "long"))
    alone = tables(simulated)
    assert rows(alone["shade"])["dark"] == [1, 1.0]
    assert {table.simulated for table in alone.values()} == {
        "With simulated labels: of 1 questions."
    }

    beside = tables(simulated, question(2, ("ada", "glad", "long")))
    assert rows(beside["shade"]) == {"bright": [1, 1.0], "dark": [0, 0.0]}
    assert beside["shade"].simulated == "Without simulated labels: of 1 questions."


def test_without_labels_one_table_says_what_fills_them() -> None:
    (table,) = tables(question(1)).values()
    assert not table.rows
    assert "publish the stage label" in table.note
