"""Questions of SQuAD and DROP as IIRC's: true offsets, evidence in the paragraph, no link."""

import json
import os
from pathlib import Path

import pytest

from annotation.protocols.iirc.combined import drop_passages, squad_passages
from annotation.protocols.iirc.export import ArticleKeys, passage_json
from annotation.protocols.iirc.official_files import LayoutError, Passage

TEXT = "Ada kept the light of Birk. It was lit in 1800, and put out in 1850. Nobody knew why."
SQUAD = {
    "data": [
        {
            "title": "The_light",
            "paragraphs": [
                {
                    "context": TEXT,
                    "qas": [
                        {
                            "question": "When was it lit?",
                            "answers": [
                                {"text": "1800", "answer_start": 42},
                                {"text": "in 1800", "answer_start": 39},
                            ],
                        },
                        {"question": "Who paid?", "is_impossible": True, "answers": []},
                        {"question": "Off?", "answers": [{"text": "1800", "answer_start": 3}]},
                    ],
                },
                {"context": "Nothing is asked of this.", "qas": []},
            ],
        }
    ]
}
EMPTY = {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": []}
DROP = {
    "history_1": {
        "passage": TEXT,
        "qa_pairs": [
            {"question": "How many years was it lit?", "answer": {**EMPTY, "number": "50"}},
            {"question": "Which was last, 1800 or 1850?", "answer": {**EMPTY, "spans": ["1850"]}},
            {"question": "Who, Ada or Bela?", "answer": {**EMPTY, "spans": ["Bela", "Ada"]}},
            {"question": "When?", "answer": {**EMPTY, "date": {"year": "1800"}}},
            {"question": "Where?", "answer": {**EMPTY, "spans": ["Hollin"]}},
        ],
    }
}


def of(passages: list[Passage]) -> list[tuple[str, str, list[str], list[str]]]:
    """Return each question's text, type, answers and evidence, checked by being exported."""
    for passage in passages:
        passage_json(passage, ArticleKeys())
    return [
        (
            asked.text,
            asked.answer.type,
            [span.text for span in asked.answer.spans] or [asked.answer.value],
            [span.text for span in asked.evidence],
        )
        for passage in passages
        for asked in passage.questions
    ]


def test_squad_s_first_answer_and_its_sentence_are_kept() -> None:
    found = list(squad_passages("train-v2.0.json", json.dumps(SQUAD).encode()))
    assert [(one.title, one.links) for one in found] == [("The light", ())]
    assert of(found) == [
        (
            "When was it lit?",
            "span",
            ["1800"],
            ["It was lit in 1800, and put out in 1850."],
        ),
        ("Who paid?", "none", [""], []),
    ]


def test_drop_s_numbers_and_spans_are_kept_and_dates_left_out() -> None:
    found = list(drop_passages("drop_dataset_train.json", json.dumps(DROP).encode()))
    assert of(found) == [
        ("How many years was it lit?", "value", ["50"], [TEXT]),
        ("Which was last, 1800 or 1850?", "span", ["1850"], [TEXT]),
        ("Who, Ada or Bela?", "span", ["Bela", "Ada"], [TEXT]),
    ]
    assert [span.passage for span in found[0].questions[2].answer.spans] == ["question", "main"]


@pytest.mark.parametrize("content", ["[]", '{"data": [{"x": 1}]}', '{"a": 1}'])
@pytest.mark.parametrize("read", [squad_passages, drop_passages])
def test_another_layout_is_refused(read, content: str) -> None:
    with pytest.raises(LayoutError, match=r"a\.json: it is no file of"):
        list(read("a.json", content.encode()))


def test_real_files_are_read() -> None:
    data = os.environ.get("COLLECTOR_DATA")
    if not data:
        pytest.skip("COLLECTOR_DATA is not set: it names the folder of real data.")
    squad = Path(data, "official/squad/allennlp_squad2.json")
    drop = Path(data, "official/drop/allennlp_fixture_drop.json")
    assert len(of(list(squad_passages(squad.name, squad.read_bytes())))) == 6
    # One of its nineteen is asked twice.
    assert len(of(list(drop_passages(drop.name, drop.read_bytes())))) == 18
