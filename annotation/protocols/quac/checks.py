"""What a worker is told to mend, live and on submit, and what is only advice (QuAC 2.1, 2.2).

Data is cleaned already: offsets lie within the section, a span holds no more tokens than it may.
`items` are the page's items; `table` is the stage's own table of the parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import TextTable, ValidationTable
from tasks.widgets.problems import Problem

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
