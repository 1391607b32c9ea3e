"""How the official conversion to DROP style numbers and answers a file of passages."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from annotation.protocols.iirc.dataset_tree import MAIN, LayoutError


class NumberedQuestion(NamedTuple):
    """A question that the conversion keeps, with its number and its DROP-style answer."""

    number: int
    question: Mapping[str, Any]
    answer: dict[str, Any]

    @property
    def query_id(self) -> str:
        """Return the id under which predictions answer this question."""
        return f"qid_{self.number}"


def numbered(passages: Iterable[Mapping[str, Any]], initial: int = 0) -> Iterator[NumberedQuestion]:
    """Yield the questions of official `passages` that are kept, numbered from initial + 1.

    The official dev file is numbered on from the length of the converted train file. Bad
    questions use up no number.
    """
    number = initial
    for passage in passages:
        for question in passage["questions"]:
            answer = drop_answer(question["answer"])
            if answer is not None:
                number += 1
                yield NumberedQuestion(number, question, answer)


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


def n_linked_documents(question: Mapping[str, Any]) -> int:
    """Return how many documents but the main passage a question needs (IIRC 2.4, T4).

    Those that hold the evidence. Where there is no answer there is no evidence either (2.3): then
    the links that the writer picked, so that nearly half of 4+ can be unanswerable (4.3).
    """
    if question.get("answer", {}).get("type") == "none":
        return len(set(question.get("question_links", ())))
    return len({span["passage"] for span in question.get("context", ())} - {MAIN})
