"""The numbers and answers of the official conversion to DROP style."""

import pytest

from annotation.metrics.tests.golden import vectors
from annotation.protocols.iirc.official_files import (
    LayoutError,
    drop_answer,
    n_linked_documents,
    numbered,
)

PASSAGE = {
    "questions": [
        {"question": "One?", "answer": {"type": "bad"}},
        {"question": "Two?", "answer": {"type": "none"}},
        {"question": "Three?", "answer": {"type": "value", "answer_value": "7"}},
    ]
}


def test_every_golden_file_is_numbered_and_answered_as_the_official_code_does() -> None:
    files = vectors("iirc_drop.json")["iirc_files"]
    assert len(files) == 10
    for file in files:
        official = [
            (f"q_{pair['query_id'].removeprefix('qid_')}", pair["query_id"], pair)
            for entry in file["official_drop_style"].values()
            for pair in entry["qa_pairs"]
        ]
        assert [name for name, _, _ in official] == list(file["official_drop_style"])
        ours = list(numbered(file["iirc"], file["initial_qid"]))
        assert [item.query_id for item in ours] == [query_id for _, query_id, _ in official]
        for item, (_, _, pair) in zip(ours, official, strict=True):
            assert item.question["question"] == pair["question"]
            assert [item.answer] == [pair["answer"]] == pair["validated_answers"]


def test_bad_questions_use_up_no_number() -> None:
    assert [item.number for item in numbered([PASSAGE], initial=10)] == [11, 12]


def test_the_main_passage_is_no_linked_document() -> None:
    context = [{"passage": title} for title in ("London", "main", "Paris", "London")]
    assert n_linked_documents({"context": context}) == 2
    assert n_linked_documents({}) == 0


def test_without_an_answer_the_links_that_the_writer_picked_count() -> None:
    picked = {"question_links": ["A", "B", "A"], "context": []}
    assert n_linked_documents({**picked, "answer": {"type": "none"}}) == 2
    assert n_linked_documents({**picked, "answer": {"type": "span"}}) == 0


def test_it_refuses_an_unknown_type() -> None:
    with pytest.raises(LayoutError, match="unknown answer type 'date'"):
        drop_answer({"type": "date"})
