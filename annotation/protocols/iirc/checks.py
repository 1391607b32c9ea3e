"""What a worker is told to mend, live and on submit, and what is only advice (IIRC 2.2, 2.3).

Data is cleaned already: offsets lie within their texts, types are known. `items` are the page's
items; `table` is the stage's own table of the parameters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from annotation.protocols import reader_hints
from collector.protocols.parameters import StageTable
from collector.protocols.stage_tables import QuestionTable
from tasks.work.widgets.problems import Problem
from tasks.work.widgets.words import is_asked, n_words, words_of

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import ChecksTable, Parameters

# Words that say nothing of what a question is about.
EMPTY = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been being do does did "
    "has have had it its this that these those he she they them his her their who whom whose what "
    "which when where why how many much long old after before during into about than then there "
    "not no yes can could will would may might must shall should also more most other".split()
)


def problems(
    kind: str,
    data: Mapping[str, Sequence[object]],
    items: Sequence[Mapping[str, object]],
    table: StageTable,
    parameters: "Parameters",
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    by_id = {str(item["id"]): item for item in items}
    if isinstance(table, QuestionTable):
        return list(_questions(data["questions"], by_id, table, parameters.checks))
    return list(_answers(data["answers"], by_id, parameters.checks))


def _questions(
    questions: Sequence[Any],
    items: Mapping[str, Mapping[str, Any]],
    table: QuestionTable,
    limits: "ChecksTable",
) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, question in enumerate(questions):
        yield from _question(index, question, items[question["item"]], limits)
        text = " ".join(question["text"].casefold().split())
        if text and text in seen:
            message = f"This is the same as question {seen[text] + 1}: ask something else."
            yield Problem(message, index, "text")
        seen.setdefault(text, index)
    missing = table.questions_per_hit - len(questions)
    if missing > 0:
        yield Problem(f"Write {_counted(missing, 'more question')}.")
    if missing < 0:
        yield Problem(
            f"Delete {_counted(-missing, 'question')}: {table.questions_per_hit} are asked."
        )
    multi = sum(len(question["links"]) >= table.multi_link_min_links for question in questions)
    if multi < table.multi_link_questions:
        lacking = table.multi_link_questions - multi
        yield Problem(
            f"{_counted(lacking, 'more question')} must need {table.multi_link_min_links} links "
            "or more: pick further links for a question, or write one that needs them."
        )


def _question(
    index: int, question: Mapping[str, Any], item: Mapping[str, Any], limits: "ChecksTable"
) -> Iterator[Problem]:
    words = words_of(question["text"])
    if not words:
        yield Problem("Write the question.", index, "text")
        return
    if len(words) < limits.min_question_words:
        yield Problem(
            f"Write a whole question of at least {limits.min_question_words} words.", index, "text"
        )
    if not question["context"]:
        yield Problem("Mark the words of the paragraph that the question needs.", index, "context")
    if not question["links"]:
        yield Problem("Pick at least one link whose article should hold the rest.", index, "links")
    yield from advice(index, question, item)
    yield from _read_alone(index, question["text"], item, limits.reader_confidence)
    yield from _long(index, question["context"], limits.long_evidence_words)


def _read_alone(
    index: int, text: str, item: Mapping[str, Any], confidence: float
) -> Iterator[Problem]:
    """Yield a kind word where a reader is so sure of an answer in the paragraph, or surer.

    Nobody knows the answer yet; whoever asks sees what was found, and whether it is one.
    """
    if not confidence:
        return
    words, sure = reader_hints.surest(text, str(item.get("title", "")), str(item["text"]))
    if sure >= confidence and words.casefold() not in text.casefold():
        message = f"The paragraph alone seems to answer it: “{words}”. Does it need the link?"
        yield Problem(message, index, "text", hint=True, from_reader=True)


def _long(index: int, context: Sequence[Mapping[str, Any]], many: int) -> Iterator[Problem]:
    """Yield a kind word about evidence as long as a paragraph."""
    longest = max((n_words(span["text"]) for span in context), default=0)
    if longest >= many:
        message = f"A piece of your evidence has {longest} words. Would the few that matter do?"
        yield Problem(message, index, "context", hint=True)


def advice(
    index: int, question: Mapping[str, object], item: Mapping[str, object]
) -> Iterator[Problem]:
    """Yield what could make one question better, as hints; item: the paragraph it is about."""
    text, links = str(question["text"]), cast(Sequence[str], question["links"])
    if not is_asked(text):
        yield Problem("Does it end with a question mark?", index, "text", hint=True)
    asked = telling(text)
    if len(asked) < 2:
        return
    titles = set().union(*(telling(title) for title in links), set())
    if asked & titles and not (asked - titles) & telling(str(item["text"])):
        yield Problem(
            "It names the linked article and nothing else of the paragraph. "
            "Could someone answer it without the paragraph?",
            index,
            "text",
            hint=True,
        )


def telling(text: str) -> set[str]:
    """Return the words of a text that say what it is about, in lower case."""
    return {word for word in words_of(text.casefold()) if word not in EMPTY}


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _answers(
    answers: Sequence[Any], items: Mapping[str, object], limits: "ChecksTable"
) -> Iterator[Problem]:
    given = {answer["item"]: answer for answer in answers}
    for index, item_id in enumerate(items):
        answer = given.get(item_id)
        if answer is None or not answer["type"]:
            yield Problem("Choose what kind of answer there is.", index, "type")
        else:
            yield from _answer(index, answer, limits)


def _answer(index: int, answer: Mapping[str, Any], limits: "ChecksTable") -> Iterator[Problem]:
    kind = answer["type"]
    if kind == "span":
        if not answer["spans"]:
            yield Problem(
                "Mark the answer in the question, the paragraph or an article.", index, "spans"
            )
        longest = max((n_words(span["text"]) for span in answer["spans"]), default=0)
        if longest >= limits.long_answer_words:
            message = f"Your answer has {longest} words. Would fewer of them say it as well?"
            yield Problem(message, index, "spans", hint=True)
        if len(answer["spans"]) > limits.max_answer_spans:
            yield Problem(f"Mark at most {limits.max_answer_spans} answers.", index, "spans")
    if kind == "value" and not _is_number(answer["value"]):
        yield Problem("Write the number in digits, such as 12 or 3.5.", index, "value")
    if kind == "binary" and answer["yes_no"] not in ("yes", "no"):
        yield Problem("Choose yes or no.", index, "yes_no")
    if kind == "bad" and not answer["reason"].strip():
        yield Problem("Say in a few words what is wrong with the question.", index, "reason")
    if kind in ("span", "value", "binary") and not answer["context"]:
        yield Problem("Mark the words that prove the answer, as few as possible.", index, "context")
    if len(answer["context"]) > limits.max_evidence_spans:
        yield Problem(f"Mark at most {limits.max_evidence_spans} pieces.", index, "context")
    if kind == "none" and answer["context"]:
        yield Problem("Nothing can prove that there is no answer: remove it.", index, "context")
    yield from _long(index, answer["context"], limits.long_evidence_words)
    documents = {span["document"] for span in answer["context"]}
    if kind in ("span", "value", "binary") and documents == {"main"}:
        yield Problem(
            "All your evidence is in the paragraph. If it answers the question alone, "
            "mark the question as bad.",
            index,
            "context",
            hint=True,
        )


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-−]?\d[\d,]*(?:\.\d+)?", text.strip()))
