"""The released answer: as the official scorer reads it, and the documents it needs."""

from collections.abc import Mapping
from typing import Any

from annotation.protocols.iirc.conversion import drop_answer, n_linked_documents
from annotation.protocols.iirc.dataset_tree import QUESTION
from annotation.protocols.iirc.validation import Vote, vote
from annotation.records.schema import QuestionRecord, chosen_vote


def gold_of(question: QuestionRecord) -> Mapping[str, Any] | None:
    """Return the released answer in DROP style; None where nothing is released."""
    released = chosen_vote(question)
    if released is None or released["type"] == "bad":
        return None
    return {"answer": drop_answer(_official(vote(released["type"], released["payload"])))}


def needed_documents(question: QuestionRecord) -> int:
    """Return how many documents but the passage the question needs, by its released answer."""
    released = chosen_vote(question)
    context = released["payload"].get("context") or () if released else ()
    documents = {span["document"] for span in context} - {QUESTION}
    return n_linked_documents(
        {
            "answer": {"type": released["type"] if released else ""},
            "question_links": question["payload"].get("links") or (),
            "context": [{"passage": document} for document in documents],
        }
    )


def _official(cast: Vote) -> dict[str, object]:
    return {
        "type": cast.type,
        "answer_spans": [{"text": span} for span in cast.spans],
        "answer_value": cast.yes_no if cast.type == "binary" else cast.value,
    }
