"""The conversion to DROP style against the official one's output."""

import pytest

from annotation.metrics.tests.golden import vectors
from annotation.protocols.iirc.conversion import (
    drop_answer,
    drop_style,
    evidence_text,
    n_linked_documents,
)
from annotation.protocols.iirc.layout import LayoutError

PASSAGE = {
    "questions": [
        {"question": "One?", "answer": {"type": "bad"}},
        {"question": "Two?", "answer": {"type": "none"}},
        {"question": "Three?", "answer": {"type": "value", "answer_value": "7"}},
    ]
}


def test_every_golden_file_is_converted_as_the_official_code_does() -> None:
    files = vectors("iirc_drop.json")["iirc_files"]
    assert len(files) == 10
    for file in files:
        converted = drop_style(file["iirc"], file["initial_qid"])
        assert converted == file["official_drop_style"]
        assert list(converted) == list(file["official_drop_style"])


def test_bad_questions_use_up_no_number() -> None:
    assert list(drop_style([PASSAGE], initial=10)) == ["q_11", "q_12"]


def test_unanswerable_questions_can_be_left_out() -> None:
    converted = drop_style([PASSAGE], with_unanswerable=False)
    assert [item["qa_pairs"][0]["question"] for item in converted.values()] == ["Three?"]


def test_evidence_of_the_main_passage_comes_first() -> None:
    context = [
        {"passage": "London", "text": "a"},
        {"passage": "main", "text": "b"},
        {"passage": "Paris", "text": "c"},
        {"passage": "London", "text": "d"},
    ]
    assert evidence_text({"context": context}) == "b</s>a</s>c</s>d"
    assert n_linked_documents({"context": context}) == 2
    assert n_linked_documents({}) == 0


def test_it_refuses_an_unknown_type() -> None:
    with pytest.raises(LayoutError, match="unknown answer type 'date'"):
        drop_answer({"type": "date"})
