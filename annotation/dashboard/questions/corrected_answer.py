"""Reads the answer that a requester types in place of the votes, its words found in their texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.dashboard.questions.passages import QUESTION, article_texts, text_of
from collector.models import Corpus
from common.actions import ActionError
from tasks.kinds.registry import kind_of
from tasks.models import Answer, Question
from tasks.widgets.number import clean as clean_number
from tasks.widgets.reply import SECTION
from tasks.widgets.spans import MAIN
from tasks.work.answer_summary import type_words

MOST_WORDS = 2_000
YES_NO = ("yes", "no")


@dataclass(frozen=True)
class CorrectionInput:
    """What was typed: the type, the answer (one passage a line), its unit."""

    type: str
    text: str
    unit: str


def correction_types(base: Answer) -> list[tuple[str, str]]:
    """Return (type, words) of what an answer of this stage can be corrected to; none for labels."""
    return [(name, type_words(name)) for name in kind_of(base.stage).correction_types]


def corrected(base: Answer, typed: CorrectionInput, corpus: Corpus) -> dict[str, Any]:
    """Return the payload of the corrected answer; its evidence and the like stay those of `base`.

    Raises ActionError for a type that the stage does not have, and for what is no answer of it.
    """
    if typed.type not in dict(correction_types(base)):
        raise ActionError("Choose what type of answer the corrected one is.")
    emptied: dict[str, Any] = {"spans": [], "value": "", "unit": "", "yes_no": None, "reason": ""}
    payload = base.payload | {
        name: empty for name, empty in emptied.items() if name in base.payload
    }
    text = typed.text.strip()[:MOST_WORDS]
    if typed.type == "span":
        payload["spans"] = _spans(text, _texts(base, corpus))
    elif typed.type == "value":
        value, problems = clean_number(text, typed.unit)
        if problems:
            raise ActionError(" ".join(problem.message for problem in problems))
        payload |= value
    elif typed.type == "binary":
        if text.casefold() not in YES_NO:
            raise ActionError("Write yes or no as the corrected answer.")
        payload["yes_no"] = text.casefold()
    return payload


def _spans(text: str, texts: Mapping[Any, str]) -> list[dict[str, Any]]:
    """Return one span for each line, in the first text that holds the words as they stand."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ActionError("Write the words of the corrected answer, one passage a line.")
    found = []
    for line in lines:
        places = [(document, words.find(line)) for document, words in texts.items()]
        held = [(document, start) for document, start in places if start >= 0]
        if not held:
            raise ActionError(
                f"“{line[:80]}” stands in none of the texts: copy the words as they stand there."
            )
        document, start = held[0]
        span = {"document": document, "start": start, "end": start + len(line), "text": line}
        found.append(span)
    return found


def _texts(base: Answer, corpus: Corpus) -> dict[Any, str]:
    """Return the texts that an answer can be marked in, the seed's own first."""
    question: Question = base.question
    paragraphs = [each.paragraph.text for each in question.seed.seed_paragraphs.all()]
    if "facts" in question.payload:
        return dict(enumerate(paragraphs))
    if len(paragraphs) > 1:
        return {SECTION: text_of(question.seed)}
    marked = [*(base.payload.get("spans") or ()), *(base.payload.get("context") or ())]
    titles = [
        *(question.payload.get("links") or ()),
        *(span["document"] for span in marked if span["document"] not in (MAIN, QUESTION)),
    ]
    own = {MAIN: text_of(question.seed), QUESTION: question.text}
    return own | article_texts(corpus, dict.fromkeys(titles))
