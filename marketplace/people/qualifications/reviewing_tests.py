"""Puts what a worker answered in a test beside its questions, for the requester who decides."""

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

from marketplace.hits.questions.question_form import Part, Question, Selection, parse


@dataclass(frozen=True)
class AnsweredQuestion:
    """One question as it was asked, and the answer in the words that the worker saw."""

    name: str
    parts: tuple[Part, ...]
    said: tuple[str, ...]


def answered_questions(test: str, answer: str) -> list[AnsweredQuestion]:
    """Return the questions of a test in order, with no `said` where nothing was answered.

    Expects XML that this marketplace took in (QuestionForm) and wrote (QuestionFormAnswers).
    """
    if not test:
        return []
    given = _given(answer)
    return [
        AnsweredQuestion(one.name, one.parts, _words(one, given.get(one.identifier, [])))
        for one in parse(test).questions
    ]


def _given(answer: str) -> dict[str, list[tuple[str, str]]]:
    """Return the kind and text of each thing that was answered, by QuestionIdentifier."""
    if not answer:
        return {}
    found: dict[str, list[tuple[str, str]]] = {}
    for one in ElementTree.fromstring(answer).iterfind("{*}Answer"):
        name = one.findtext("{*}QuestionIdentifier") or ""
        parts = [(node.tag.rpartition("}")[2], node.text or "") for node in one]
        found[name] = [part for part in parts if part[0] != "QuestionIdentifier"]
    return found


def _words(question: Question, given: list[tuple[str, str]]) -> tuple[str, ...]:
    choices = {}
    if isinstance(question.answer, Selection):
        for choice in question.answer.choices:
            shown = " ".join(part.text for part in choice.parts if part.kind in ("title", "text"))
            choices[choice.identifier] = shown or choice.identifier
    return tuple(
        choices.get(text, text) if kind == "SelectionIdentifier" else text
        for kind, text in given
        if text
    )
