"""Questions of a release: the passages that they rest on, and what proves their answers."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from annotation.records.schema import (
    IMPORTED,
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    answering,
)

# Fields of TREC's files are parted by blanks.
_BLANK = re.compile(r"[\s%]")


def passage_id(document: str, position: int) -> str:
    """Return the id of a passage by its document's own id and its place there, counted from 0.

    Blanks, and the percent sign itself, are written as in an address: `my%20file.txt#3`.
    """
    return _BLANK.sub(lambda blank: quote(blank.group()), f"{document}#{position}")


def document_of(passage: PassageRecord) -> str:
    """Return the id that the passage's document has from its owner, else its title."""
    return passage.get("document") or passage["title"]


def id_of(passage: PassageRecord) -> str:
    """Return the passage's released id."""
    return passage_id(document_of(passage), passage["position"])


def page_of(passage: PassageRecord, start: int) -> int | None:
    """Return the page on which the character at `start` stands; None where there are no pages."""
    return next(
        (page for begins, page in reversed(passage.get("pages") or []) if begins <= start), None
    )


# The stage in which people ask without having read.
NATURAL = "natural"
ANSWER, NONE = "answer", "none"
SINGLE_PASSAGE = "single_passage"
# Every passage of the collection, or those that are at hand, by released id.
Passages = Mapping[str, PassageRecord]


def imported(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the published file's own object, None for what was collected here."""
    text = payload.get(IMPORTED)
    return None if text is None else json.loads(text)


def shown_ids(seed: SeedRecord, question: QuestionRecord) -> list[str]:
    """Return the ids of the passages that the question's writer read; none of a natural one."""
    if question["stage"] == NATURAL:
        return []
    return [id_of(passage) for passage in seed["passages"]]


def cited_ids(question: QuestionRecord) -> Iterator[str]:
    """Yield the ids of the passages that the answers of a question name as evidence."""
    for vote in answering(question):
        for name in ("evidence", "plausible"):
            for one in vote["payload"].get(name) or ():
                yield passage_id(one["document"], one["paragraph"])


def one_was_enough(question: QuestionRecord) -> bool:
    """Return whether somebody else proved the released answer of a question by one passage.

    Where a requester decided that is read off the released answers: the verdict's reason says no
    more than that it was by hand.
    """
    verdict = question["verdict"]
    if verdict is None or not verdict["overridden"]:
        return verdict is not None and verdict["reason"] == SINGLE_PASSAGE
    proofs = [
        {(one["document"], one["paragraph"]) for one in vote["payload"].get("evidence") or ()}
        for vote in answering(question)
        # The writer's own says what was shown.
        if "correction" in question or not vote["payload"].get("shown")
    ]
    return any(len(passages) == 1 for passages in proofs)


def entry(seed: SeedRecord, question: QuestionRecord, passages: Passages) -> dict[str, Any]:
    """Return a question as the file has it; an imported one exactly as it came.

    Raises ValueError naming the question for a missing answer and for false offsets.
    """
    own = imported(question["payload"])
    if own is not None:
        return own
    votes = answering(question)
    if not votes:
        raise ValueError(f"Question {question['id']} is kept without an answer: decide it again.")
    released = votes[0]
    shown = shown_ids(seed, question)
    answered = [vote for vote in votes if vote["type"] == ANSWER]
    evidence = _evidence(released, "evidence", question["id"], passages)
    others = [
        one
        for vote in answered[1:]
        for one in _evidence(vote, "evidence", question["id"], passages)
    ]
    return {
        "id": question["id"],
        "question": question["text"],
        "source": NATURAL if question["stage"] == NATURAL else "passages",
        "category": question["payload"].get("category"),
        "is_impossible": released["type"] == NONE,
        "answers": [
            {"text": text}
            for text in dict.fromkeys(vote["payload"].get("short", "") for vote in answered)
        ],
        "full_answer": released["payload"].get("full", "") if answered else "",
        "evidence": evidence,
        "other_evidence": [
            one for at, one in enumerate(others) if one not in evidence and one not in others[:at]
        ],
        "plausible_evidence": _evidence(released, "plausible", question["id"], passages),
        "shown": shown,
        "single_passage": len(shown) > 1 and one_was_enough(question),
    }


def relevant(question: Mapping[str, Any]) -> list[str]:
    """Return the ids of the passages that answer a question of a file, each once.

    Those of the released answer first, then those in which others found the same answer.
    """
    found = (*question["evidence"], *question.get("other_evidence", ()))
    return list(dict.fromkeys(one["passage_id"] for one in found))


def paragraph(passage: PassageRecord) -> dict[str, Any]:
    """Return a passage as the file of questions has it."""
    return {
        "id": id_of(passage),
        "document": document_of(passage),
        "title": passage["title"],
        "section": passage["section"],
        "page": page_of(passage, 0),
        "context": passage["text"],
    }


def _evidence(vote: VoteRecord, name: str, key: str, passages: Passages) -> list[dict[str, Any]]:
    """Return marked words with where they stand; raises ValueError where they stand elsewhere."""
    found = []
    for one in _in_order(vote["payload"].get(name) or ()):
        of = passage_id(one["document"], one["paragraph"])
        if of not in passages:
            raise ValueError(f"Question {key}: the corpus has no passage {of} any more.")
        passage = passages[of]
        if passage["text"][one["start"] : one["end"]] != one["text"]:
            raise ValueError(
                f"Question {key}: {one['start']}:{one['end']} of {of} is not {one['text']!r}. "
                "Mark it again; offsets are half-open, in code points."
            )
        found.append(
            {
                "passage_id": of,
                "document": one["document"],
                "title": passage["title"],
                "section": passage["section"],
                "page": page_of(passage, one["start"]),
                "text": one["text"],
                "answer_start": one["start"],
                "answer_end": one["end"],
            }
        )
    return found


def _in_order(evidence: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each mark once, in the order of the passages as they were named, then of the text."""
    listed = list(evidence)
    places: dict[tuple[str, int], int] = {}
    for one in listed:
        places.setdefault((one["document"], one["paragraph"]), len(places))
    unique = {
        (places[one["document"], one["paragraph"]], one["start"], one["end"]): one for one in listed
    }
    return [unique[place] for place in sorted(unique)]
