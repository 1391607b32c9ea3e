"""Reads the answer that a requester types in place of the votes, its words found in their texts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from annotation.dashboard.questions.reading import QUESTION, article_texts, cited, text_of
from collector.models import Corpus
from collector.retrieval.index import RetrievalError
from collector.retrieval.passages import search
from common.actions import ActionError
from tasks.models import Answer, Question
from tasks.work.kinds.registry import kind_of
from tasks.work.kinds.voting import type_words
from tasks.work.passages import name_of, paragraph_of
from tasks.work.passages import passages_by_id as passages
from tasks.work.widgets.number import clean as clean_number
from tasks.work.widgets.reply import SECTION
from tasks.work.widgets.spans import MAIN

MOST_WORDS = 2_000
YES_NO = ("yes", "no")
EVIDENCED = "answer"
# How many passages are looked through for words that stand in none that was shown or cited.
MOST_SEARCHED = 50


@dataclass(frozen=True)
class CorrectionInput:
    """What was typed: the type, the answer (one passage a line), its unit.

    Where an answer has two lengths, `text` is the short one; `evidence` has one mark a line.
    """

    type: str
    text: str
    unit: str = ""
    full: str = ""
    evidence: str = ""


def correction_types(base: Answer) -> list[tuple[str, str]]:
    """Return (type, words) of what an answer of this stage can be corrected to; none for labels."""
    return [(name, type_words(name)) for name in kind_of(base.stage).correction_types]


def takes_evidence(base: Answer) -> bool:
    """Return whether an answer of this stage has two lengths and marks in passages of a corpus."""
    return EVIDENCED in kind_of(base.stage).correction_types


def corrected(base: Answer, typed: CorrectionInput, corpus: Corpus) -> dict[str, Any]:
    """Return the payload of the corrected answer; its evidence and the like stay those of `base`.

    Evidence that was typed takes its place. What a worker searched for and opened is left out.

    Raises ActionError for a type that the stage does not have, and for what is no answer of it.
    """
    if typed.type not in dict(correction_types(base)):
        raise ActionError("Choose what type of answer the corrected one is.")
    emptied: dict[str, Any] = {"spans": [], "value": "", "unit": "", "yes_no": None, "reason": ""}
    emptied |= {"searches": [], "opened": []}
    payload = base.payload | {
        name: empty for name, empty in emptied.items() if name in base.payload
    }
    if takes_evidence(base):
        return payload | _with_evidence(base, typed, corpus)
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


def _with_evidence(base: Answer, typed: CorrectionInput, corpus: Corpus) -> dict[str, Any]:
    """Return both lengths of the corrected answer and what proves it, or only looks like it."""
    marks = _marks(typed.evidence[:MOST_WORDS], base, corpus)
    if typed.type != EVIDENCED:
        only_seems = marks or list(base.payload.get("plausible") or ())
        return {"short": "", "full": "", "evidence": [], "plausible": only_seems}
    short, full = (" ".join(words.split())[:MOST_WORDS] for words in (typed.text, typed.full))
    if not short or not full:
        raise ActionError("Write the corrected answer twice: short, and as a whole sentence.")
    proof = marks or list(base.payload.get("evidence") or ())
    if not proof:
        raise ActionError(
            "The vote it corrects has no evidence: copy the words that prove the answer, one "
            "passage a line."
        )
    return {"short": short, "full": full, "evidence": proof, "plausible": []}


def _marks(text: str, base: Answer, corpus: Corpus) -> list[dict[str, Any]]:
    """Return one mark for each line, where its words stand.

    That is in the passages its writer was shown, in those that an answer cites, in the order of
    these, else in one that the search finds by them.
    """
    lines = _lines(text)
    if not lines:
        return []
    shown = [each.paragraph_id for each in base.question.seed.seed_paragraphs.all()]
    answers = base.question.answers.order_by("pk")
    named = [name_of(one["document"], one["paragraph"]) for row in answers for one in cited(row)]
    known = [*shown, *(paragraph_of(corpus.pk, name) for name in dict.fromkeys(named))]
    texts = passages(known)
    at_hand = [texts[key] for key in dict.fromkeys(known)]
    return [_mark(line, chain(at_hand, _found(line, corpus))) for line in lines]


def _mark(words: str, among: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    for passage in among:
        start = passage["text"].find(words)
        if start >= 0:
            place = {name: passage[name] for name in ("document", "paragraph")}
            return {**place, "start": start, "end": start + len(words), "text": words}
    raise ActionError(_nowhere(words, "passages"))


def _found(words: str, corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Yield the passages that the search finds by these words, best first."""
    try:
        hits = [hit.paragraph_id for hit in search(corpus, words, MOST_SEARCHED)]
    except RetrievalError as error:
        raise ActionError(str(error)) from None
    texts = passages(hits)
    yield from (texts[key] for key in hits)


def _nowhere(words: str, texts: str) -> str:
    return f"“{words[:80]}” stands in none of the {texts}: copy the words as they stand there."


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _spans(text: str, texts: Mapping[Any, str]) -> list[dict[str, Any]]:
    """Return one span for each line, in the first text that holds the words as they stand."""
    lines = _lines(text)
    if not lines:
        raise ActionError("Write the words of the corrected answer, one passage a line.")
    found = []
    for line in lines:
        places = [(document, words.find(line)) for document, words in texts.items()]
        held = [(document, start) for document, start in places if start >= 0]
        if not held:
            raise ActionError(_nowhere(line, "texts"))
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
