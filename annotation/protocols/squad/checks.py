"""What a writer and an answerer are told to mend, live and on submit, and what is only advice.

Data is cleaned already: marks cover whole tokens of the passage. `items` are the page's items.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import SpanQuestionTable
from tasks.work.widgets.brief import REQUESTS
from tasks.work.widgets.problems import Problem
from tasks.work.widgets.words import copied, is_asked, n_words, words_of

if TYPE_CHECKING:
    from annotation.protocols.squad.parameters import ChecksTable, Parameters

UNMARKED = {
    "span": "Mark the fewest words of the passage that answer the question.",
    "none": "Mark the words of the passage that look like the answer.",
}


def problems(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    table: StageTable,
    parameters: "Parameters",
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    if isinstance(table, SpanQuestionTable):
        return list(_questions(data.get("questions", []), items, parameters.checks))
    return list(_answers(data.get("answers", []), parameters.checks))


def _questions(
    questions: Sequence[Any], items: Sequence[Mapping[str, Any]], limits: "ChecksTable"
) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, (question, item) in enumerate(zip(questions, items, strict=False)):
        text = " ".join(question["text"].casefold().split())
        words = words_of(text)
        if not words:
            yield Problem("Write the question.", index, "text")
        elif len(words) < limits.min_question_words:
            message = f"Write a whole question of at least {limits.min_question_words} words."
            yield Problem(message, index, "text")
        elif text in seen:
            message = f"This is the same as question {seen[text] + 1}: ask something else."
            yield Problem(message, index, "text")
        else:
            seen[text] = index
            yield from advice(index, question["text"], item["paragraphs"][0]["text"], limits)
        if not question["spans"]:
            yield Problem(UNMARKED[question["type"]], index, "answer")
        yield from _long(index, question["spans"], limits)


def advice(index: int, question: str, passage: str, limits: "ChecksTable") -> Iterator[Problem]:
    """Yield what could make one question better, as hints."""
    if not is_asked(question):
        yield Problem("End the question with a question mark.", index, "text", hint=True)
    run = copied(question, passage, limits.copied_words)
    if run:
        message = f"“{run}” stands in the passage just so: can you say it in your own words?"
        yield Problem(message, index, "text", hint=True)


def _answers(answers: Sequence[Any], limits: "ChecksTable") -> Iterator[Problem]:
    for index, answer in enumerate(answers):
        if not answer["type"]:
            yield Problem(REQUESTS["span_or_none"], index, "answer")
        elif answer["type"] == "bad" and not answer["reason"]:
            yield Problem("Say what is wrong with the question.", index, "reason")
        yield from _long(index, answer["spans"], limits)


def _long(
    index: int, spans: Sequence[Mapping[str, Any]], limits: "ChecksTable"
) -> Iterator[Problem]:
    """Yield a kind word about an answer that is longer than most."""
    number = n_words(spans[0]["text"]) if spans else 0
    if number >= limits.long_answer_words:
        message = f"It has {number} words. Would the few that matter do?"
        yield Problem(message, index, "answer", hint=True)
