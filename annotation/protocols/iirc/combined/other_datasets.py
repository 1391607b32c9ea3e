"""Questions of SQuAD and DROP as passages of IIRC: all that they need stands in their paragraph.

The evidence is the sentence of a SQuAD answer, and of DROP, whose questions need more, the whole
paragraph; no link is picked. Offsets are true.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from annotation.protocols.iirc.dataset_tree import (
    MAIN,
    NONE,
    QUESTION,
    Answer,
    LayoutError,
    Passage,
    Question,
    Span,
    passage_id,
    question_id,
)
from annotation.protocols.iirc.parsing import parse

# Where a sentence begins; evidence need not be exact.
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z])")
NUMBER = re.compile(r"[-−]?[\d,]*\.?\d+")


def squad_passages(name: str, content: bytes) -> Iterator[Passage]:
    """Yield the passages of a SQuAD file, 1.1 or 2.0; raises LayoutError naming the file.

    The first answer is kept. A question whose answer does not stand where it says is left out.
    """
    try:
        for article in parse(name, content)["data"]:
            title = str(article.get("title", "")).replace("_", " ")
            for paragraph in article["paragraphs"]:
                text = str(paragraph["context"])
                asked = ((each["question"], _of_squad(each, text)) for each in paragraph["qas"])
                yield from _passage(title, text, asked, _sentence)
    except (KeyError, TypeError, AttributeError) as error:
        raise LayoutError(f"{name}: it is no file of SQuAD's layout ({error!r}).") from None


def drop_passages(name: str, content: bytes) -> Iterator[Passage]:
    """Yield the passages of a DROP file; raises LayoutError naming the file.

    A question whose answer is a date, or spans that stand nowhere, is left out.
    """
    try:
        for key, paragraph in parse(name, content).items():
            text = str(paragraph["passage"])
            asked = (
                (each["question"], _of_drop(each["answer"], text, str(each["question"])))
                for each in paragraph["qa_pairs"]
            )
            yield from _passage(key, text, asked, _whole)
    except (KeyError, TypeError, AttributeError) as error:
        raise LayoutError(f"{name}: it is no file of DROP's layout ({error!r}).") from None


def _passage(
    title: str,
    text: str,
    asked: Iterator[tuple[Any, Answer | None]],
    evidence_of: Callable[[Answer, str], tuple[Span, ...]],
) -> Iterator[Passage]:
    """Yield the passage with the questions that have an answer here; nothing without any."""
    pid = passage_id(title, text)
    questions = {}
    for words, answer in asked:
        if answer is not None and str(words).strip():
            qid, evidence = question_id(pid, str(words)), evidence_of(answer, text)
            questions[qid] = Question(qid, str(words), (), evidence, answer)
    if questions:
        yield Passage(pid, title, text, (), tuple(questions.values()))


def _sentence(answer: Answer, text: str) -> tuple[Span, ...]:
    """Return the sentence, or the sentences, in which the answer stands."""
    breaks = [match.span() for match in SENTENCE.finditer(text)]
    found = []
    for span in answer.spans:
        first = max((end for _, end in breaks if end <= span.start), default=0)
        last = min((start for start, _ in breaks if start >= span.end), default=len(text))
        found.append(Span(MAIN, text[first:last], first, last))
    return tuple(found)


def _whole(answer: Answer, text: str) -> tuple[Span, ...]:
    return () if answer.type == NONE else (Span(MAIN, text, 0, len(text)),)


def _of_squad(asked: Mapping[str, Any], text: str) -> Answer | None:
    if asked.get("is_impossible") or not asked["answers"]:
        return Answer(NONE)
    first = asked["answers"][0]
    words, start = str(first["text"]), int(first["answer_start"])
    if not words or text[start : start + len(words)] != words:
        return None
    return Answer("span", (Span(MAIN, words, start, start + len(words)),))


def _of_drop(answer: Mapping[str, Any], text: str, asked: str) -> Answer | None:
    number, spans = str(answer.get("number") or ""), list(answer.get("spans") or [])
    if NUMBER.fullmatch(number):
        return Answer("value", value=number)
    found = [_place(str(words), text, asked) for words in spans]
    if not found or None in found:
        return None
    return Answer("span", tuple(span for span in found if span))


def _place(words: str, text: str, asked: str) -> Span | None:
    """Return where words first stand in the passage, or else in the question."""
    for document, within in ((MAIN, text), (QUESTION, asked)):
        start = within.find(words) if words else -1
        if start >= 0:
            return Span(document, words, start, start + len(words))
    return None
