"""What real workers made of a passage: their questions, answers and evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.protocols.iirc.checks import telling
from annotation.protocols.iirc.simulation.documents import MAIN, QUESTION, Documents


@dataclass(frozen=True)
class Quotation:
    """Marked words: the document's name, the text, and where the file says it stands."""

    document: str
    text: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True)
class Answer:
    """As in the official layout: span, value, binary or none."""

    type: str
    spans: tuple[Quotation, ...] = ()
    value: str = ""
    unit: str = ""
    evidence: tuple[Quotation, ...] = ()


@dataclass(frozen=True)
class Question:
    """`context`: the writer's evidence in the passage; empty where the file does not say."""

    text: str
    links: tuple[str, ...]
    answer: Answer
    context: tuple[tuple[int, int], ...] = ()

    def typed(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the question as the page sends it; item: the paragraph as the page has it."""
        spans = self.context or (_likeliest(self.text, item),)
        linked = [link["title"] for link in item["links"]]
        titles = {title.casefold(): title for title in reversed(linked)}
        titles |= {title: title for title in linked}
        found = (titles.get(title, titles.get(title.casefold())) for title in self.links)
        return {
            "item": item["id"],
            "text": self.text,
            "context": [{"start": start, "end": end} for start, end in spans],
            "links": [title for title in found if title],
        }

    def answered(self, item: Mapping[str, Any], documents: Documents) -> dict[str, Any]:
        """Return the answer as the page sends it; item: the question as the page has it."""
        given = self.answer
        answer: dict[str, Any] = {"type": given.type}
        if given.type == "span":
            answer["spans"] = _found(given.spans, documents)
        elif given.type == "value":
            answer |= {"value": given.value, "unit": given.unit}
        elif given.type == "binary":
            answer["yes_no"] = given.value.casefold()
        if given.type in ("span", "value", "binary"):
            own = [{"document": MAIN, **span} for span in item["writer_context"]]
            marked = _found(given.evidence, documents)
            has_own = any(quotation.document == MAIN for quotation in given.evidence)
            answer["context"] = marked if has_own else [*map(_place, own), *marked]
        return answer


@dataclass(frozen=True)
class Passage:
    """`links`: (start, end, title); `articles`: what the file has of them, by title."""

    title: str
    text: str
    links: tuple[tuple[int, int, str], ...]
    questions: tuple[Question, ...]
    articles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def quotations(self, title: str) -> list[tuple[int, str]]:
        """Return what is known of a linked article's text: (start, text)."""
        paragraphs = self.articles.get(title, ())
        pieces = [(0, "\n".join(paragraphs))] if paragraphs else []
        for question in self.questions:
            for quotation in (*question.answer.evidence, *question.answer.spans):
                other = quotation.document.casefold()
                if other == title.casefold() and other not in (MAIN, QUESTION):
                    pieces.append((quotation.start, quotation.text))
        return pieces


def _found(quotations: tuple[Quotation, ...], documents: Documents) -> list[dict[str, Any]]:
    spans = [documents.span(one.document, one.text, one.start, one.end) for one in quotations]
    return [span for span in spans if span]


def _place(span: Mapping[str, Any]) -> dict[str, Any]:
    return {name: span[name] for name in ("document", "start", "end")}


def _likeliest(question: str, item: Mapping[str, Any]) -> tuple[int, int]:
    """Return the sentence of the paragraph that shares most words with the question."""
    asked, text = telling(question), item["text"]
    spans = [(start, end) for start, end in item["sentences"] if text[start:end].strip()]
    spans = spans or [(0, len(text))]
    return max(spans, key=lambda span: len(asked & telling(text[slice(*span)])))
