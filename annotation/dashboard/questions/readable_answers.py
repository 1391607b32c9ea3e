"""What a worker answered, as a requester reads it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotation.dashboard.questions.highlights import Quote
from annotation.dashboard.questions.passages import OWN, QUESTION, article_texts, quoted, text_of
from collector.models import Corpus
from tasks.models import Answer
from tasks.simulation.synthetic_fields import genuine
from tasks.work.answer_summary import answer_text, type_words
from tasks.work.widgets.reply import SECTION
from tasks.work.widgets.spans import MAIN

PLACES = {MAIN: "The passage", SECTION: "The section", QUESTION: "The question"}
ACTS = {
    "affirmation": {"yes": "Yes", "no": "No"},
    "continuation": {
        "follow_up": "Follow up",
        "maybe": "Maybe follow up",
        "dont": "Don't follow up",
    },
}


@dataclass(frozen=True)
class ReadableAnswer:
    """`text` is the answer itself; `sources` name where its words were marked.

    `acts` is what was said beside it in a dialog.
    """

    answer: Answer
    type: str
    text: str
    sources: list[str]
    evidence: list[Quote]
    acts: list[str]


def readable(answers: Iterable[Answer], corpus: Corpus) -> list[ReadableAnswer]:
    """Return the answers with their evidence quoted from the texts it was marked in.

    Expects each answer's question, its seed and the seed's paragraphs prefetched; the articles
    are fetched for all answers at once.
    """
    rows = list(answers)
    titles = {span["document"] for row in rows for span in _spans(row)} - PLACES.keys()
    articles = article_texts(corpus, titles)
    return [_readable(row, articles) for row in rows]


def _readable(answer: Answer, articles: dict[str, str]) -> ReadableAnswer:
    own = dict.fromkeys(OWN, text_of(answer.question.seed))
    texts = {**articles, **own, QUESTION: answer.question.text}
    payload = genuine(answer.payload)
    spans = payload.get("spans") or ()
    return ReadableAnswer(
        answer=answer,
        type=type_words(answer.type),
        text=answer_text(answer),
        sources=list(dict.fromkeys(place(span["document"]) for span in spans)),
        evidence=[
            *(quoted(span, texts) for span in payload.get("context") or ()),
            *(Quote(piece["document"], "", piece["text"], "") for piece in cited(answer)),
        ],
        acts=[words[payload[name]] for name, words in ACTS.items() if payload.get(name) in words],
    )


def cited(answer: Answer) -> list[dict[str, Any]]:
    """Return the pieces of passages that prove an answer, or only look like one."""
    payload = answer.payload
    return [*(payload.get("evidence") or ()), *(payload.get("plausible") or ())]


def place(document: str) -> str:
    """Return what to call a document that a span lies in."""
    return PLACES.get(document, document)


def _spans(answer: Answer) -> list[dict]:
    payload = answer.payload
    return [*(payload.get("spans") or ()), *(payload.get("context") or ())]
