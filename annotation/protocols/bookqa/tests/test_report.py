"""The tables of labelled questions: shares beside the paper's, and how well types are told."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from annotation.metrics.result import ScoreError
from annotation.protocols.bookqa.question_types import MODEL, cross_validated
from annotation.protocols.bookqa.report import labelled, sample, tables
from annotation.tables.table import Table
from collector.protocols.loading import ProtocolError, get_protocol

pytestmark = pytest.mark.pure
ASKS = {
    "causal": "Why does {} burn the letter?",
    "temporal": "Where is {} when the dam breaks?",
    "concept relation": "Who is {} to the ferryman?",
    "nested": "What does {} ask the miller to do?",
}
NAMES = ("Marta", "Josef", "Anselm", "Ida", "Grace", "Edith", "Ada")


def parameters(**changes: object) -> Any:
    return get_protocol("bookqa").parameters(
        {f"report.{name}": value for name, value in changes.items()}
    )


def rows(number: int, types: Sequence[str] = tuple(ASKS)) -> list[dict[str, str]]:
    """Return labelled rows whose words tell their types."""
    return [
        {
            "id": str(place),
            "question": ASKS[types[place % len(types)]].format(NAMES[place % len(NAMES)]),
            "question_type": types[place % len(types)],
            "answer_unit": "expression" if place % 3 else "entity",
        }
        for place in range(number)
    ]


def found(given: list[dict[str, str]], **changes: object) -> dict[str, Table]:
    return {table.name: table for table in labelled(given, parameters(**changes))}


def test_words_that_tell_types_are_learnt_and_held_out_questions_are_told() -> None:
    table = found(rows(120))["question_types"]

    shares = {row[0]: row[1] for row in table.rows}
    assert shares["test"] == shares["dev"] == shares["train"] == 1
    assert shares["the most frequent type, always"] == 0.25
    assert [row[3] for row in table.rows] == [1.0, 0.734, 0.702, None]
    assert f"10-fold cross-validation on 120 labelled questions by {MODEL}" in table.note


def test_types_without_words_of_their_own_are_taken_for_one_another() -> None:
    given = rows(200)
    rng = random.Random(1)
    for row in given:
        # No word tells these two apart: only a coin does.
        if row["question_type"] == "nested" and rng.random() < 0.5:
            row["question_type"] = "event trigger"
    tables = found(given)
    confusion = {row[0]: list(row[1:]) for row in tables["question_types_confusion"].rows}
    columns = tables["question_types_confusion"].columns[2:]

    assert sum(int(row[0]) for row in confusion.values()) == 200
    assert all(sum(row[1:]) == pytest.approx(1) for row in confusion.values())
    assert confusion["causal"][1 + columns.index("causal")] == 1
    assert confusion["event trigger"][1 + columns.index("nested")] > 0.2
    errors = [list(row) for row in tables["question_types_errors"].rows]
    assert {(row[0], row[2]) for row in errors} == {
        ("nested", "event trigger"),
        ("event trigger", "nested"),
    }
    assert all(row[1] == row[3] and row[4] == 1.0 for row in errors)
    test = next(row for row in tables["question_types"].rows if row[0] == "test")
    right = 200 - sum(int(row[1]) for row in errors)
    assert test[1] == pytest.approx(right / 200)


def test_errors_that_are_few_of_a_type_s_are_no_major_ones() -> None:
    given = rows(400)
    places = [place for place, row in enumerate(given) if row["question_type"] == "causal"]
    # Twenty causal questions ask as temporal ones do, and one as a relation.
    for place in places[:20]:
        given[place]["question"] = ASKS["temporal"].format(NAMES[place % len(NAMES)])
    given[places[20]]["question"] = ASKS["concept relation"].format("Ada")

    errors = [row[:4] for row in map(list, found(given)["question_types_errors"].rows)]
    all_of_them = [
        row[:4] for row in map(list, found(given, major_error=0)["question_types_errors"].rows)
    ]

    assert errors == [["causal", 21, "temporal", 20]]
    assert all_of_them == [*errors, ["causal", 21, "concept relation", 1]]


def test_the_same_labels_give_the_same_figures_and_another_seed_others() -> None:
    rng = random.Random(2)
    pairs = tuple((ASKS["nested"].format(rng.choice(NAMES)), rng.choice("ab")) for _ in range(90))

    def told(seed: int) -> object:
        cross_validated.cache_clear()
        return cross_validated(pairs, ("a", "b"), 9, (0.5,), seed).table.tolist()

    assert told(3) == told(3)
    assert len({str(told(seed)) for seed in range(5)}) > 1


def test_too_few_labels_are_refused_in_a_line_that_says_what_to_do() -> None:
    few = found(rows(99))
    one_type = found(rows(120, ["causal"]))

    (table,) = [table for name, table in few.items() if name.startswith("question_types")]
    assert not table.rows
    assert table.note.startswith(
        "99 questions of 4 types are labelled; it takes 100 of two types to learn from them. "
        "Label questions by hand: report NAME --sample FILE.csv"
    )
    assert "\n" not in table.note
    assert "120 questions of 1 types are labelled" in one_type["question_types"].note
    assert found(rows(30), min_items=30)["question_types"].rows


def test_shares_stand_beside_the_paper_s_which_add_up() -> None:
    tables = found([*rows(8), {**rows(1)[0], "question_type": "", "answer_unit": ""}])

    types = {str(row[1]).partition(":")[0]: list(row[2:]) for row in tables["question_type"].rows}
    assert types["causal"] == [2, 0.25, 0.126]
    assert types["event concept"] == [0, 0.0, 0.283]
    groups = {row[0]: list(row[1:]) for row in tables["question_group"].rows}
    assert groups["Event relation"][:2] == [6, 0.75]
    assert groups["Event relation"][2] == pytest.approx(0.126 + 0.126 + 0.154)
    for name in ("question_type", "question_group", "answer_unit", "answer_class"):
        assert sum(row[-1] for row in tables[name].rows) == pytest.approx(1)  # type: ignore[misc]
    assert tables["flow_question_type_answer_unit"].flow is not None
    assert "8 rows are labelled, 1 wait" in tables["question_type"].note


def test_a_row_without_its_question_is_refused() -> None:
    row = {name: value for name, value in rows(1)[0].items() if name != "question"}
    with pytest.raises(ScoreError, match="Row 1: there is no column question"):
        labelled([row], parameters())


def question(number: int, *votes: Any) -> Any:
    chosen = {
        "stage": "answer",
        "worker": "ida",
        "type": "words",
        "payload": {"fields": {"answer": "her niece"}},
        "synthetic": False,
        "chosen": True,
    }
    return {
        "id": f"q{number}",
        "text": f"Who is Marta, {number}?",
        "payload": {"fields": {"answer": "a niece"}},
        "synthetic": False,
        "verdict": {"outcome": "kept", "reason": "", "sentence": "", "overridden": False},
        "votes": [chosen, *votes],
    }


def vote(label: str, synthetic: bool = False) -> Any:
    return {
        "stage": "label",
        "worker": "edith",
        "type": label,
        "payload": {"fields": {"answer_unit": "entity"}},
        "synthetic": synthetic,
        "chosen": False,
    }


def seeds(*questions: Any) -> Any:
    return [{"questions": list(questions), "passages": [{"title": "The Ford"}]}]


def test_what_the_stage_of_labels_brings_is_told_and_simulated_labels_are_marked() -> None:
    asked = [question(n, vote("causal" if n % 2 else "nested", True)) for n in range(40)]
    table, *_ = tables(seeds(*asked), parameters(min_items=40))

    assert table.rows
    assert table.simulated == "With simulated labels: of 40 questions."
    empty, *_ = tables(seeds(question(1)), parameters())
    assert not empty.rows
    assert "Publish the stage label, or label by hand" in empty.note


def test_a_collection_without_the_stage_is_labelled_by_hand() -> None:
    older = parameters().model_copy(update={"label": None})
    (table,) = tables(seeds(question(1)), older)
    assert table.note.endswith("then report NAME --labels FILE.csv.")


def test_fewer_labels_than_folds_are_no_parameter() -> None:
    with pytest.raises(ProtocolError, match=r"folds \(10\) must not be more than min_items"):
        parameters(min_items=9)


def test_a_sample_has_both_answers_and_does_not_depend_on_the_order_of_questions() -> None:
    asked = [question(n) for n in range(30)]
    drawn = sample(seeds(*asked), parameters(hand_labels=7), random.Random(4))

    assert len(drawn) == 7
    assert drawn == sample(seeds(*asked[::-1]), parameters(hand_labels=7), random.Random(4))
    assert {**drawn[0], "id": "", "question": ""} == {
        "id": "",
        "story": "The Ford",
        "question": "",
        "answer1": "a niece",
        "answer2": "her niece",
        "question_type": "",
        "answer_unit": "",
    }
