"""What is asked about a passage, or answered from it, is proven mark by mark."""

from typing import Any

import pytest

from collector.protocols.stage_tables import SpanChecks
from tasks.work.widgets import marked

pytestmark = pytest.mark.pure
TEXT = "The Fleam Light was lit in 1871."
WORDS = [(0, 3, True), (4, 9, True), (10, 15, True), (16, 19, True), (20, 23, True)]
TOKENS = [*WORDS, (24, 26, True), (27, 31, True), (31, 32, False)]
CHECKS = SpanChecks(
    min_question_words=3, max_question_characters=40, max_reason_characters=20, max_answer_words=3
)
PARAGRAPH = {"document": "main", "text": TEXT, "tokens": TOKENS}
YEAR = {"document": "main", "start": 27, "end": 31, "text": "1871"}


def item(form: str, **more: Any) -> dict[str, Any]:
    """Return an item of a page."""
    return {"id": "0", "form": form, "paragraphs": [PARAGRAPH], **more}


def told(problems: list[Any]) -> list[tuple[int | None, str | None, str]]:
    """Return where each problem is, and what it says."""
    return [(each.index, each.field, each.message) for each in problems]


def written(entry: Any, type: str = "none") -> tuple[Any, list[Any]]:
    """Return what is kept of the one question of a page."""
    data, found = marked.clean_written({"questions": [entry]}, [item("span", type=type)], CHECKS)
    return data["questions"][0], told(found)


def answered(entry: Any) -> tuple[Any, list[Any]]:
    """Return what is kept of the one answer of a page."""
    data, found = marked.clean_answered({"answers": [entry]}, [item("span_or_none")], CHECKS)
    return data["answers"][0], told(found)


def test_a_question_is_of_the_items_type_whatever_is_sent() -> None:
    entry = {"item": "0", "text": " When? ", "type": "span", "spans": [{"start": 27, "end": 31}]}
    kept = {"item": "0", "text": "When?", "type": "none", "spans": [YEAR]}
    assert written(entry) == (kept, [])
    assert written({"item": "0"}, "span")[0]["spans"] == []


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([{"start": 27, "end": 29}], "A mark cuts through a word: mark whole words."),
        ([{"start": 0, "end": 19}], "The passage has 4 words: mark 3 or fewer."),
        ([{"start": 27, "end": 99}], "A mark is outside its text: take it off and mark the"),
        ([{"start": 27, "end": 31, "document": "Carrow"}], "A mark is in a text that does not"),
    ],
)
def test_a_mark_that_cannot_be_kept_is_told(spans: list[Any], message: str) -> None:
    for kept, found in (
        written({"item": "0", "text": "When?", "spans": spans}),
        answered({"item": "0", "type": "span", "spans": spans}),
    ):
        [(index, field, words)] = found
        assert (index, field) == (0, "answer")
        assert words.startswith(message)
        assert kept["item"] == "0"


def test_an_answer_that_is_part_of_a_word_is_refused() -> None:
    text = "The keeper's lamp"
    tokens = [(0, 3, True), (4, 10, True), (10, 12, True), (13, 17, True)]
    paragraph = {"document": "main", "text": text, "tokens": tokens}
    items = [{"id": "0", "form": "span_or_none", "paragraphs": [paragraph]}]
    entry = {"item": "0", "type": "span", "spans": [{"start": 10, "end": 17}]}
    [problem] = marked.clean_answered({"answers": [entry]}, items, CHECKS)[1]
    assert problem.message.startswith("A mark holds part of a word")
    entry["spans"] = [{"start": 4, "end": 17}]
    assert marked.clean_answered({"answers": [entry]}, items, CHECKS)[1] == []


def test_an_answer_is_words_or_none_or_bad_with_a_reason() -> None:
    year = {"item": "0", "type": "span", "spans": [{"start": 27, "end": 31}], "reason": "No."}
    assert answered(year) == ({"item": "0", "type": "span", "spans": [YEAR], "reason": ""}, [])
    nothing = {"item": "0", "type": "none", "spans": [{"start": 27, "end": 31}]}
    assert answered(nothing)[0] == {"item": "0", "type": "none", "spans": [], "reason": ""}
    bad = {"item": "0", "type": "bad", "reason": "It is odd."}
    assert answered(bad)[0]["reason"] == "It is odd."
    long = "The reason has 30 characters: shorten it to 20 or fewer."
    assert answered({**bad, "reason": "x" * 30})[1] == [(0, "reason", long)]
    request = "Mark the answer, or say that the passage does not have it."
    assert answered({"item": "0", "type": "yes"})[1] == [(0, "answer", request)]


@pytest.mark.parametrize("junk", [None, 3, [], {}, {"questions": 1}])
def test_what_is_no_work_is_told_and_leaves_every_item_blank(junk: Any) -> None:
    data, found = marked.clean_written(junk, [item("span", type="span")], CHECKS)
    assert data == {"questions": [{"item": "0", "text": "", "type": "span", "spans": []}]}
    assert told(found) == [(None, None, "The work could not be read: reload the page; it is kept.")]


def test_a_question_of_another_hit_is_told() -> None:
    _, found = marked.clean_written({"questions": [{"item": "7"}]}, [], CHECKS)
    assert told(found) == [(None, None, "A question belongs to another HIT: reload the page.")]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("灯台は1871年に", ["灯", "台", "は", "1871", "年", "に"]),
        ("The light", ["The light"]),
        # A vowel sign stays with its consonant.
        ("ที่นี่", ["ที่", "นี่"]),
    ],
)
def test_where_no_blanks_are_written_every_character_can_be_marked(
    text: str, pieces: list[str]
) -> None:
    found = marked.markable(text, [(0, len(text), True)])
    assert [text[start:end] for start, end, _ in found] == pieces
    assert all(is_word for *_, is_word in found)
