"""What a writer and an answerer are told to mend, and what is only advice."""

from typing import Any

import pytest

from annotation.protocols.squad import checks
from collector.protocols.loading import get_protocol

PARAMETERS: Any = get_protocol("squad").parameters()
TEXT = "The Fleam Light was lit on 3 May 1871 after eleven ships had been lost on the reef."
ITEM = {"id": "0.0", "paragraphs": [{"text": TEXT}]}
MARK = {"start": 50, "end": 56, "text": "eleven"}


def asked(*questions: dict[str, Any]) -> list[tuple[int | None, str | None, str, bool]]:
    """Return what is told of questions, each changed from a good one."""
    good = {"text": "How many ships sank?", "type": "span", "spans": [MARK]}
    data = {"questions": [{**good, **question} for question in questions]}
    items = [ITEM] * len(questions)
    found = checks.problems("span_question", data, items, PARAMETERS.question, PARAMETERS)
    return [(each.index, each.field, each.message, each.hint) for each in found]


def test_a_good_question_is_told_nothing() -> None:
    assert asked({}) == []


@pytest.mark.parametrize(
    ("question", "field", "message", "hint"),
    [
        ({"text": ""}, "text", "Write the question.", False),
        ({"text": "Who?"}, "text", "Write a whole question of at least 3 words.", False),
        ({"spans": []}, "answer", checks.UNMARKED["span"], False),
        ({"spans": [], "type": "none"}, "answer", checks.UNMARKED["none"], False),
        ({"text": "How many ships sank"}, "text", "End the question with a question mark.", True),
        (
            {"text": "Why was the Fleam Light was lit on 3 may 1871?"},
            "text",
            "“the Fleam Light was lit on 3 may” stands in the passage just so: "
            "can you say it in your own words?",
            True,
        ),
        (
            {"spans": [{"text": TEXT}]},
            "answer",
            "It has 18 words. Would the few that matter do?",
            True,
        ),
    ],
)
def test_what_a_question_lacks_is_told_at_its_field(
    question: dict[str, Any], field: str, message: str, hint: bool
) -> None:
    assert asked(question) == [(0, field, message, hint)]


def test_the_same_question_twice_is_refused() -> None:
    assert asked({}, {"text": "how many  ships SANK?"}) == [
        (1, "text", "This is the same as question 1: ask something else.", False)
    ]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"type": "none"}, []),
        ({"type": "span", "spans": [MARK]}, []),
        ({"type": "bad", "reason": "It is about nothing."}, []),
        ({"type": "bad"}, [("reason", "Say what is wrong with the question.")]),
        (
            {"type": None},
            [("answer", "Mark the answer, or say that the passage does not have it.")],
        ),
    ],
)
def test_an_answer_is_words_or_none_or_a_reason(answer: dict[str, Any], told: list[Any]) -> None:
    given = {"spans": [], "reason": "", **answer}
    data = {"answers": [given]}
    found = checks.problems("span_answer", data, [ITEM], PARAMETERS.answer, PARAMETERS)
    assert [(each.field, each.message) for each in found] == told


@pytest.mark.parametrize(
    "text",
    [
        "谁建了桥？",
        "「誰ですか？」",
        "橋は誰が建てましたか。",
        "다리는 누가 지었나요?",
        "من بنى الجسر؟",
        "पुल किसने बनाया?",
    ],
)
def test_whole_questions_of_other_scripts_are_told_nothing(text: str) -> None:
    assert asked({"text": text}) == []


def test_words_of_other_scripts_are_counted_as_they_are_written() -> None:
    assert [message for _, _, message, _ in asked({"text": "何？"})] == [
        "Write a whole question of at least 3 words."
    ]
    passage = "这座桥由当地石匠于一九〇三年秋天修建完成并通车，后来被洪水冲毁。"
    item = {"id": "0.0", "paragraphs": [{"text": passage}]}
    question = {
        "text": "哪座桥由当地石匠于一九〇三年秋天修建完成并通车？",
        "type": "span",
        "spans": [{"text": passage[:12]}],
    }
    found = checks.problems(
        "span_question", {"questions": [question]}, [item], PARAMETERS.question, PARAMETERS
    )
    assert [each.message for each in found] == [
        "“座桥由当地石匠于一九〇三年秋天修” stands in the passage just so: "
        "can you say it in your own words?"
    ]
