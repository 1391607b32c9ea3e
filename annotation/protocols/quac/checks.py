"""What a worker is told to mend, live and on submit, and what is only advice (QuAC 2.1, 2.2).

Data is cleaned already: offsets lie within the section, a span holds no more tokens than it may.
`items` are the page's items; `table` is the stage's own table of the parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.metrics.token_overlap import answer_tokens
from annotation.protocols import reader_hints
from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import DialogTable, TextTable, ValidationTable
from tasks.work.widgets.problems import Problem

if TYPE_CHECKING:
    from annotation.protocols.quac.parameters import Parameters


def problems(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    table: StageTable,
    parameters: "Parameters",
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    if isinstance(table, TextTable):
        return list(_questions(data["entries"]))
    if isinstance(table, ValidationTable):
        return list(_answers(data["answers"], table))
    if isinstance(table, DialogTable):
        confidence = parameters.checks.reader_confidence
        return list(_read_before(data.get("questions", ()), items, confidence))
    return []


def _questions(entries: Sequence[Any]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        for field, written in entry["fields"].items():
            text = " ".join((written or "").casefold().split())
            if text and text in seen:
                message = f"This is the same as question {seen[text] + 1}: ask something else."
                yield Problem(message, index, field)
            seen.setdefault(text, index)


def _read_before(
    questions: Sequence[Any], items: Sequence[Mapping[str, object]], confidence: float
) -> Iterator[Problem]:
    """Yield a kind word where a reader is so sure of an answer in what the student has read.

    questions: that were sent and stand; items: their sections as the student sees them. Whom an
    article is about answers nearly anything, and is no answer.
    """
    if not confidence:
        return
    for index, (question, item) in enumerate(zip(questions, items, strict=True)):
        title = str(item["title"])
        words, sure = reader_hints.surest(question, title, str(item["background"]))
        known = {*answer_tokens(question), *answer_tokens(title)}
        if sure >= confidence and known.isdisjoint(answer_tokens(words)):
            message = (
                f"What you can read seems to answer it: “{words}”. Your question stands; "
                "the next could ask for what only your partner sees."
            )
            yield Problem(message, index, "question", hint=True, from_reader=True)


def _answers(answers: Sequence[Any], table: ValidationTable) -> Iterator[Problem]:
    for index, answer in enumerate(answers):
        if not answer["type"]:
            yield Problem("Mark a passage, or choose that there is no answer.", index, "spans")
            continue
        if answer["type"] == "span" and not answer["spans"]:
            yield Problem("Mark the passage that answers the question.", index, "spans")
        if not answer["affirmation"]:
            yield Problem("Choose yes, no or neither.", index, "affirmation")
        if table.continuation and not answer["continuation"]:
            yield Problem("Say whether to ask more about this.", index, "continuation")
