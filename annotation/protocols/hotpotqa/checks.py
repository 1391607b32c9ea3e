"""What a worker is told to mend, live and on submit, and what is only advice (HotpotQA 2, A.3).

Data is cleaned already: spans cover whole tokens, sentences exist, the answer is of the pair's
form. `items` are the page's items; `table` is the stage's own table of the parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.protocols.hotpotqa import advice
from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import PairTable
from tasks.work.widgets.brief import REQUESTS
from tasks.work.widgets.problems import Problem
from tasks.work.widgets.words import is_asked, words_of

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import ChecksTable, Parameters


def problems(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    table: StageTable,
    parameters: "Parameters",
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    if isinstance(table, PairTable):
        return list(_pairs(data.get("pairs", []), items, table, parameters.checks))
    return list(_answers(data.get("answers", []), items))


def _pairs(
    pairs: Sequence[Any],
    items: Sequence[Mapping[str, Any]],
    table: PairTable,
    limits: "ChecksTable",
) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    skipped, most_skips = 0, table.most_skips(len(items))
    for index, (pair, item) in enumerate(zip(pairs, items, strict=False)):
        if pair["skipped"]:
            skipped += 1
            yield from _skipped(index, pair, skipped, most_skips)
            continue
        text = " ".join(pair["text"].casefold().split())
        if text and text in seen:
            message = f"This is the same as question {seen[text] + 1}: ask something else."
            yield Problem(message, index, "text")
        seen.setdefault(text, index)
        yield from _question(index, pair["text"], limits)
        yield from _answer(index, pair, item)
        read = advice.read_alone(pair, item, limits.reader_confidence)
        for field, message in advice.on(pair, item):
            if message != read:
                yield Problem(message, index, field, hint=True)
        if read:
            yield Problem(read, index, "text", hint=True, from_reader=True)


def _skipped(index: int, pair: Mapping[str, Any], skipped: int, most: int) -> Iterator[Problem]:
    if skipped > most:
        message = f"At most {most} of the pairs of this HIT can be skipped: write about this one."
        yield Problem(message, index, "skip")
    elif not pair["reason"]:
        yield Problem("Say why no good question can be asked about this pair.", index, "skip")


def _question(index: int, text: str, limits: "ChecksTable") -> Iterator[Problem]:
    words = words_of(text)
    if not words:
        yield Problem("Write the question.", index, "text")
        return
    if len(words) < limits.min_question_words:
        message = f"Write a whole question of at least {limits.min_question_words} words."
        yield Problem(message, index, "text")
    elif not is_asked(text):
        message = "End the question with a question mark."
        yield Problem(message, index, "text", hint=not limits.question_mark)


def _answer(index: int, given: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[Problem]:
    if not given["type"]:
        yield Problem(REQUESTS[item["form"]], index, "answer")
    proven = {paragraph for paragraph, _ in given["facts"]}
    lacking = [one for one in item["paragraphs"] if int(one["document"]) not in proven]
    if len(lacking) == len(item["paragraphs"]):
        yield Problem("Pick the sentences that prove the answer, by number.", index, "facts")
    elif lacking:
        message = f"Pick a sentence of “{lacking[0]['title']}” too: the proof needs both."
        yield Problem(message, index, "facts")


def _answers(answers: Sequence[Any], items: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    for index, (answer, item) in enumerate(zip(answers, items, strict=False)):
        if not answer["type"]:
            yield Problem(REQUESTS[item["form"]], index, "answer")
        if not answer["facts"]:
            yield Problem("Pick the sentences that prove the answer, by number.", index, "facts")
        elif advice.is_unproven(answer, item):
            yield Problem(advice.UNPROVEN, index, "facts", hint=True)
