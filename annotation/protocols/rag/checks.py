"""What writers and readers are told to mend, live and on submit, and what is only advice.

Data is cleaned already: marks are words of the passages they name. `items` are the page's items.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import EvidenceQuestionTable, SearchAnswerTable
from tasks.work.widgets.problems import Problem
from tasks.work.widgets.words import copied, is_asked, n_words, words_of

if TYPE_CHECKING:
    from annotation.protocols.rag.parameters import ChecksTable, Parameters

YES_NO = "yes_no"
MEND = {
    "answer": "Answer the question, or say that the documents do not have the answer.",
    "short": "Write the short answer.",
    "full": "Write the full answer, in a sentence or two.",
    "evidence": "Mark the words that prove the answer.",
    "each": "Mark what proves it in passage {number} too.",
    "plausible": "Mark the words that look like the answer.",
    "yes_no": "A question for yes or no is answered with yes or no: choose one.",
    "skip": "Say why no good question can be asked.",
    "bad": "Say what is wrong with the question.",
}


def problems(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    table: StageTable,
    parameters: "Parameters",
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    limits = parameters.checks
    if isinstance(table, SearchAnswerTable):
        return list(_answers(data.get("answers", []), limits))
    if isinstance(table, EvidenceQuestionTable):
        return list(_written(data.get("questions", []), items, table, limits))
    return list(_asked(data.get("questions", []), [()] * len(items), limits))


def _asked(
    questions: Sequence[Any], passages: Sequence[Sequence[str]], limits: "ChecksTable"
) -> Iterator[Problem]:
    """Yield what is to be said of the words of questions; passages: which are shown with each."""
    seen: dict[str, int] = {}
    for index, (question, shown) in enumerate(zip(questions, passages, strict=False)):
        if question.get("skipped"):
            continue
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
            yield from advice(index, question["text"], shown, limits)


def advice(
    index: int, question: str, passages: Sequence[str], limits: "ChecksTable"
) -> Iterator[Problem]:
    """Yield what could make one question better, as hints."""
    if not is_asked(question):
        yield Problem("End the question with a question mark.", index, "text", hint=True)
    for passage in passages:
        run = copied(question, passage, limits.copied_words)
        if run:
            message = f"“{run}” stands in a passage just so: can you say it in your own words?"
            yield Problem(message, index, "text", hint=True)
            return


def _written(
    questions: Sequence[Any],
    items: Sequence[Mapping[str, Any]],
    table: EvidenceQuestionTable,
    limits: "ChecksTable",
) -> Iterator[Problem]:
    passages = [[one["text"] for one in item["paragraphs"]] for item in items]
    yield from _asked(questions, passages, limits)
    skips, most_skips = 0, table.most_skips(len(items))
    for index, (question, item) in enumerate(zip(questions, items, strict=False)):
        if question["skipped"]:
            skips += 1
            if skips > most_skips:
                message = f"At most {most_skips} of this HIT can be skipped."
                yield Problem(message, index, "skip")
            elif not question["reason"]:
                yield Problem(MEND["skip"], index, "skip")
            continue
        if question["category"] is None:
            yield Problem("Choose a type of question.", index, "category")
        yield from _proven(index, question, limits)
        if question["type"] == "none" and not question["evidence"]:
            yield Problem(MEND["plausible"], index, "evidence")
        if question["type"] == "answer":
            yield from _from_each(index, question, item)


def _proven(index: int, answer: Mapping[str, Any], limits: "ChecksTable") -> Iterator[Problem]:
    """Yield what an answer lacks; the same for every worker."""
    if answer["type"] is None:
        yield Problem(MEND["answer"], index, "answer")
    if answer["type"] != "answer":
        return
    if not answer["short"]:
        yield Problem(MEND["short"], index, "short")
    elif answer.get("category") == YES_NO and answer["short"].casefold() not in ("yes", "no"):
        yield Problem(MEND["yes_no"], index, "short")
    elif n_words(answer["short"]) >= limits.long_short_words:
        message = "This is long for a short answer: would the words that matter do?"
        yield Problem(message, index, "short", hint=True)
    if not answer["full"]:
        yield Problem(MEND["full"], index, "full")


def _from_each(
    index: int, question: Mapping[str, Any], item: Mapping[str, Any]
) -> Iterator[Problem]:
    marked = {(one["document"], one["paragraph"]) for one in question["evidence"]}
    if len(item["paragraphs"]) == 1 and not marked:
        yield Problem(MEND["evidence"], index, "evidence")
        return
    for number, passage in enumerate(item["paragraphs"], start=1):
        if (passage["document"], passage["paragraph"]) not in marked:
            yield Problem(MEND["each"].format(number=number), index, "evidence")
            return


def _answers(answers: Sequence[Any], limits: "ChecksTable") -> Iterator[Problem]:
    for index, answer in enumerate(answers):
        yield from _proven(index, answer, limits)
        if answer["type"] == "answer" and not answer["evidence"]:
            yield Problem(MEND["evidence"], index, "evidence")
        elif answer["type"] == "bad" and not answer["reason"]:
            yield Problem(MEND["bad"], index, "reason")
        elif answer["type"] == "none" and len(set(answer["searches"])) < limits.min_searches:
            message = (
                f"Search with at least {limits.min_searches} different searches before you say "
                "that the documents do not have it."
            )
            yield Problem(message, index, "answer")
