"""All votes on all questions, dropped ones and second readings too, as one Parquet file."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.records.parquet_tables import BOOLEAN, INTEGER, Column, spans, spans_of, write_table
from annotation.records.schema import IMPORTED, QuestionRecord, SeedRecord, VoteRecord

FILE = "votes.parquet"
ABOUT = "Every vote on every question, those left out of the dataset included."
ROWS_PER_GROUP = 10_000
COLUMNS = {
    "seed_id": Column("the released id of the passage or other start"),
    "question_id": Column(
        "the question's id in the official files; for dropped questions the one kept"
    ),
    "split": Column("the split the question is in; empty unless it is kept"),
    "split_reason": Column("why it is in that split"),
    "question": Column("the question's text"),
    "question_worker": Column("pseudonym of who wrote the question"),
    "question_context": spans("spans the question's writer marked"),
    "question_links": Column("links the question's writer picked", is_list=True),
    "question_more": Column("whatever else the writer gave, as JSON; empty if nothing"),
    "outcome": Column("kept, dropped or waiting"),
    "reason": Column("why, in one word of the protocol"),
    "overridden": Column("whether a requester decided against the agreement", BOOLEAN),
    "stage": Column("the stage in which the vote was given"),
    "vote": Column(
        "the vote's number among the question's votes, from 0, in order of submission", INTEGER
    ),
    "worker": Column("pseudonym of who answered; empty for published files"),
    "answer_type": Column("the type of the answer"),
    "answer_spans": spans("spans of a span answer"),
    "answer_value": Column("the number of a value answer, as typed"),
    "answer_unit": Column("its unit"),
    "answer_yes_no": Column("yes or no of a binary answer"),
    "answer_context": spans("the evidence marked"),
    "answer_reason": Column("why the question was called bad"),
    "answer_more": Column("whatever else the answer holds, as JSON; empty if nothing"),
    "hit_seconds": Column("active seconds of the whole HIT the vote was part of", INTEGER),
    "hit_items": Column("how many questions that HIT held", INTEGER),
    "synthetic": Column("whether a simulated worker wrote the question or gave the vote", BOOLEAN),
    "synthetic_fields": Column(
        "what a simulation added to a person's vote; left out here", is_list=True
    ),
    "corrected": Column(
        "whether it is no vote: the requester entered it in place of the votes", BOOLEAN
    ),
    "chosen": Column("whether this is the released answer", BOOLEAN),
    "agrees": Column("whether it agrees with the released answer", BOOLEAN),
}
KNOWN = ("spans", "value", "unit", "yes_no", "reason", "context")
KNOWN_OF_QUESTION = ("context", "links", IMPORTED)


def write_votes(path: Path, seeds: Iterable[SeedRecord]) -> int:
    """Write one row per vote, in groups of ROWS_PER_GROUP; returns how many are votes."""
    total = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal total
        for row in rows(seeds):
            total += not row["corrected"]
            yield row

    write_table(path, COLUMNS, counted(), ROWS_PER_GROUP)
    return total


def rows(seeds: Iterable[SeedRecord]) -> Iterator[dict[str, Any]]:
    """Yield one row per vote, with the keys of COLUMNS."""
    for seed in seeds:
        for question in seed["questions"]:
            asked = _asked(seed, question)
            entered = [question["correction"]] if "correction" in question else []
            for number, vote in enumerate([*question["votes"], *entered]):
                synthetic = question["synthetic"] or vote["synthetic"]
                yield {
                    **asked,
                    **_given(vote),
                    "vote": number,
                    "synthetic": synthetic,
                    "corrected": vote in entered,
                }


def _asked(seed: SeedRecord, question: QuestionRecord) -> dict[str, Any]:
    verdict = question["verdict"]
    is_kept = bool(verdict and verdict["outcome"] == "kept")
    return {
        "seed_id": seed["id"],
        "question_id": question["id"],
        "split": question["split"] if is_kept else "",
        "split_reason": question.get("split_reason", "") if is_kept else "",
        "question": question["text"],
        "question_worker": question["worker"] or "",
        "question_context": spans_of(question["payload"].get("context")),
        "question_links": list(question["payload"].get("links") or ()),
        "question_more": _more(question["payload"], KNOWN_OF_QUESTION),
        "outcome": verdict["outcome"] if verdict else "waiting",
        "reason": verdict["reason"] if verdict else "",
        "overridden": bool(verdict and verdict["overridden"]),
    }


def _given(vote: VoteRecord) -> dict[str, Any]:
    payload = vote["payload"]
    return {
        "stage": vote["stage"],
        "worker": vote["worker"] or "",
        "answer_type": vote["type"],
        "answer_spans": spans_of(payload.get("spans")),
        "answer_value": payload.get("value") or "",
        "answer_unit": payload.get("unit") or "",
        "answer_yes_no": payload.get("yes_no") or "",
        "answer_context": spans_of(payload.get("context")),
        "answer_reason": payload.get("reason") or "",
        "answer_more": _more(payload, KNOWN),
        "hit_seconds": vote["hit_seconds"],
        "hit_items": vote["hit_items"],
        "synthetic_fields": vote.get("synthetic_fields") or [],
        "chosen": vote["chosen"],
        "agrees": vote["agrees"],
    }


def _more(payload: Mapping[str, Any], known: Collection[str]) -> str:
    more = {name: value for name, value in payload.items() if name not in known}
    return json.dumps(more, ensure_ascii=False, sort_keys=True) if more else ""
