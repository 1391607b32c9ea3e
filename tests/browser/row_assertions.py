"""What the rows must say of work that was done in the browser."""

from typing import Any

from tests.browser.answer_page import Given
from tests.browser.phrase import Phrase
from tests.browser.question_page import Written

ROWS = "tests.browser.rows"


def assert_questions_are_kept(rows: list[dict[str, Any]], written: list[Written]) -> None:
    """Check that the rows say exactly what was typed, dragged and clicked."""
    assert [row["text"] for row in rows] == [question.text for question in written]
    for row, question in zip(rows, written, strict=True):
        assert row["links"] == list(question.links)
        (span,) = row["context"]
        assert span.pop("slice") == question.evidence.words
        span.pop("before")
        assert span == question.evidence.span


def assert_answers_are_kept(rows: list[dict[str, Any]], given: list[Given]) -> None:
    """Check that the rows say exactly what was chosen, typed and dragged."""
    assert [row["type"] for row in rows] == [answer.type for answer in given]
    for row, answer in zip(rows, given, strict=True):
        assert {name: row[name] for name in ("value", "unit", "yes_no", "reason")} == {
            "value": answer.value,
            "unit": answer.unit,
            "yes_no": answer.yes_no,
            "reason": answer.reason,
        }
        assert_spans_are_kept(row["spans"], answer.spans)
        assert_spans_are_kept(row["context"], answer.evidence)


def assert_spans_are_kept(rows: list[dict[str, Any]], marked: tuple[Phrase, ...]) -> None:
    """Check that each row's offsets give the words that were dragged over, where they were."""
    for row, wanted in zip(rows, marked, strict=True):
        assert row["document"] == wanted.document
        assert row["text"] == row["slice"] == wanted.words
        if wanted.document in ("main", "question"):
            assert row["start"] == wanted.start
        else:
            assert row["before"] == wanted.occurrence
