"""The official conversion of a file of passages to the DROP style that the scorer reads."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from annotation.protocols.iirc.layout import MAIN, LayoutError

# The reader for which the official conversion was written separates evidence so.
EVIDENCE_SEPARATOR = "</s>"


class Numbered(NamedTuple):
    """A question that the conversion keeps, with its number and its DROP-style answer."""

    number: int
    question: Mapping[str, Any]
    answer: dict[str, Any]

    @property
    def query_id(self) -> str:
        """Return the id under which predictions answer this question."""
        return f"qid_{self.number}"


def numbered(
    passages: Iterable[Mapping[str, Any]], initial: int = 0, with_unanswerable: bool = True
) -> Iterator[Numbered]:
    """Yield the questions of official `passages` that are kept, numbered from initial + 1.

    The official dev file is numbered on from the length of the converted train file. Bad
    questions, and without `with_unanswerable` those of type none, use up no number.
    """
    number = initial
    for passage in passages:
        for question in passage["questions"]:
            answer = drop_answer(question["answer"])
            kept = question["answer"]["type"] != "none" or with_unanswerable
            if answer is not None and kept:
                number += 1
                yield Numbered(number, question, answer)


def drop_style(
    passages: Iterable[Mapping[str, Any]], initial: int = 0, with_unanswerable: bool = True
) -> dict[str, Any]:
    """Return official `passages` as the official conversion gives them with gold evidence."""
    return {
        f"q_{item.number}": {
            "passage": evidence_text(item.question),
            "qa_pairs": [
                {
                    "question": item.question["question"],
                    "answer": item.answer,
                    "validated_answers": [item.answer],
                    "query_id": item.query_id,
                }
            ],
        }
        for item in numbered(passages, initial, with_unanswerable)
    }


def drop_answer(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an official answer in DROP style; None for a bad question. The unit is lost.

    Raises LayoutError for an unknown type.
    """
    kind = answer["type"]
    if kind == "bad":
        return None
    number: str = answer["answer_value"] if kind == "value" else ""
    if kind == "span":
        spans = [span["text"] for span in answer["answer_spans"]]
    elif kind == "binary":
        spans = [answer["answer_value"]]
    elif kind in ("value", "none"):
        spans = []
    else:
        raise LayoutError(f"unknown answer type {kind!r}: use span, value, binary, none or bad")
    return {"date": {"day": "", "month": "", "year": ""}, "number": number, "spans": spans}


def evidence_text(question: Mapping[str, Any]) -> str:
    """Return the evidence texts as one, those of the main passage first, else in file order."""
    evidence = question.get("context", ())
    ordered = sorted(evidence, key=lambda span: span["passage"] != MAIN)
    return EVIDENCE_SEPARATOR.join(span["text"] for span in ordered)


def n_linked_documents(question: Mapping[str, Any]) -> int:
    """Return how many distinct documents but the main passage hold the evidence (IIRC 2.4, T4)."""
    return len({span["passage"] for span in question.get("context", ())} - {MAIN})
