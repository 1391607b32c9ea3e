"""What a report says of how people agree who vote: where votes are labels, and nowhere else."""

from typing import Any

import pytest

from annotation.agreement.kappa import fleiss_kappa, krippendorff_alpha
from annotation.reports.collection import VoteAgreement
from collector.protocols.loading import get_protocol

pytestmark = pytest.mark.pure


def question(number: int, stage: str, *votes: tuple[str, str, str, dict[str, str]]) -> Any:
    """Return a question's record with (stage, worker, type, payload) of each vote."""
    return {
        "id": f"q{number}",
        "stage": stage,
        "synthetic": False,
        "votes": [
            {
                "stage": where,
                "worker": who,
                "type": kind,
                "payload": payload,
                "synthetic": who.startswith("simulated"),
            }
            for where, who, kind, payload in votes
        ],
    }


def rows(protocol: str, *questions: Any) -> dict[tuple[Any, Any], list[Any]]:
    """Return the cells of the table by what is voted on; {} where there is no table."""
    agreement = VoteAgreement(get_protocol(protocol).parameters())
    seeds: Any = [{"questions": list(questions)}]
    assert list(agreement.watch(seeds)) == seeds
    tables = agreement.tables()
    return {(row[0], row[1]): row[2:] for table in tables for row in table.rows}


def answered(number: int, *types: str) -> Any:
    """Return a question of IIRC with votes of these types by as many people."""
    people = ("ada", "grace", "edith", "ida")
    votes = [("answer", who, kind, {}) for who, kind in zip(people, types, strict=False)]
    return question(number, "question", *votes)


def test_types_of_answers_have_their_coefficients_with_intervals() -> None:
    found = rows(
        "iirc",
        answered(1, "span", "span", "span"),
        answered(2, "none", "none", "value"),
        answered(3, "span", "binary"),
        answered(4, "span"),
    )
    cells = found["question", "answer type"]
    # One vote tells nothing of agreement: the fourth is no question of it.
    assert cells[:2] == [3, 3]
    counts = [[0, 0, 3, 0], [0, 2, 0, 1], [1, 0, 1, 0]]
    assert cells[2] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert cells[4] == pytest.approx(fleiss_kappa(counts))
    assert cells[6] == pytest.approx(krippendorff_alpha(counts))
    low, high = (float(end) for end in cells[5].split(" to "))
    assert low <= cells[4] <= high


def test_teachers_and_validators_of_a_dialog_vote_on_the_same_questions() -> None:
    yes, no = {"affirmation": "yes", "continuation": "maybe"}, {"affirmation": "no"}
    found = rows(
        "quac",
        question(
            1,
            "dialog",
            ("dialog", "ada", "span", yes),
            ("validation", "grace", "span", yes),
            ("validation", "edith", "none", no),
        ),
        question(2, "dialog", ("dialog", "ada", "span", yes), ("validation", "ida", "span", no)),
    )
    assert found["dialog", "answer type"][:3] == [2, 4, pytest.approx((1 / 3 + 1) / 2)]
    assert found["dialog", "affirmation"][:3] == [2, 4, pytest.approx((1 / 3 + 0) / 2)]
    # Of the second question only its teacher says how to go on.
    assert found["dialog", "continuation"][:2] == [1, 2]


def test_later_readings_are_no_votes() -> None:
    again = ("human_performance", "ida", "none", {})
    found = rows("iirc", question(1, "question", ("answer", "ada", "span", {}), again))
    assert found == {}


def test_simulated_votes_are_none_of_peoples() -> None:
    found = rows(
        "iirc",
        question(1, "question", ("answer", "ada", "span", {}), ("answer", "simulated", "none", {})),
    )
    assert found == {}


def test_answers_in_free_words_are_no_labels() -> None:
    words = {"fields": {"answer": "her uncle"}}
    found = rows(
        "bookqa",
        question(
            1, "question", ("answer", "ada", "words", words), ("answer", "ida", "words", words)
        ),
    )
    assert found == {}


def test_published_votes_of_nobody_are_not_counted() -> None:
    found = rows(
        "iirc", question(1, "question", ("answer", "", "span", {}), ("answer", "", "bad", {}))
    )
    assert found == {}
