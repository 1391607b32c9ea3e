"""Every vote, and the questions of each split, as Parquet files with typed columns."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.records.parquet_tables import (
    BOOLEAN,
    INTEGER,
    Column,
    Row,
    spans,
    spans_of,
    write_table,
)
from annotation.records.schema import (
    IMPORTED,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    is_simulated,
)
from annotation.records.withholding import text_digest

if TYPE_CHECKING:
    from annotation.protocols.contracts import ExportModule

VOTES_FILE = "votes.parquet"
VOTES_ABOUT = "Every vote on every question, those left out of the dataset included."
VOTES_PER_GROUP = 10_000
VOTE_COLUMNS = {
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
# A row may hold ten passages and more.
QUESTIONS_PER_GROUP = 1_000
NOT_IN_A_NAME = re.compile(r"\W+")
PASSAGE = {
    "title": Column("the title of its article or document"),
    "section": Column("the heading of its section; empty if it has none"),
    "text": Column("its text, into which offsets point"),
    "permalink": Column("where the revision that was read is to be found"),
    "document": Column("the id of the requester's own document; empty for others"),
    "sha256": Column("the SHA-256 of its text, told though the text itself is closed"),
    "n_characters": Column("how long its text is, in code points", INTEGER),
}
ANSWER = {
    "type": Column("the type of the answer"),
    "text": Column("the answer in words; empty where it is that there is none"),
    "worker": Column("pseudonym of who answered; empty for published files"),
    "chosen": Column("whether this is the released answer", BOOLEAN),
    "agrees": Column("whether it agrees with the released answer", BOOLEAN),
}
QUESTION_COLUMNS = {
    "id": Column("the question's id, as in the official files"),
    "split": Column("the split it is in"),
    "question": Column("the question's text"),
    "seed_id": Column("the released id of what it was asked about"),
    "passages": Column("what its writer was shown, in order", is_list=True, parts=PASSAGE),
    "answer_type": Column("the type of the released answer"),
    "answer": Column("the released answer in words; empty where it is that there is none"),
    "answer_spans": spans("the words marked as the released answer, with their places"),
    "answers": Column(
        "every answer that counts, the released one first", is_list=True, parts=ANSWER
    ),
    "synthetic": Column("whether a simulated worker made the question or its answer", BOOLEAN),
}


def write_votes(path: Path, seeds: Iterable[SeedRecord]) -> int:
    """Write one row per vote, in groups of ROWS_PER_GROUP; returns how many are votes."""
    total = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal total
        for row in vote_rows(seeds):
            total += not row["corrected"]
            yield row

    write_table(path, VOTE_COLUMNS, counted(), VOTES_PER_GROUP)
    return total


def vote_rows(seeds: Iterable[SeedRecord]) -> Iterator[dict[str, Any]]:
    """Yield one row per vote, with the keys of COLUMNS."""
    for seed in seeds:
        for question in seed["questions"]:
            verdict = question["verdict"]
            is_kept = bool(verdict and verdict["outcome"] == "kept")
            asked = {
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
            entered = [question["correction"]] if "correction" in question else []
            for number, vote in enumerate([*question["votes"], *entered]):
                synthetic = question["synthetic"] or vote["synthetic"]
                payload = vote["payload"]
                yield {
                    **asked,
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
                    "vote": number,
                    "synthetic": synthetic,
                    "corrected": vote in entered,
                }


def _more(payload: Mapping[str, Any], known: Collection[str]) -> str:
    more = {name: value for name, value in payload.items() if name not in known}
    return json.dumps(more, ensure_ascii=False, sort_keys=True) if more else ""


def file_of(split: str) -> str:
    """Return the name of the split's file."""
    return f"questions-{name_of(split)}.parquet"


def name_of(split: str) -> str:
    """Return the split's name as readers of tables take it: letters, digits and underscores."""
    return NOT_IN_A_NAME.sub("_", split)


def columns_of(export: "ExportModule") -> dict[str, Column]:
    """Return the columns of a protocol's questions: those of all protocols, then its own."""
    return {**QUESTION_COLUMNS, **export.QUESTION_COLUMNS}


def write_questions(
    folder: Path, by_split: Mapping[str, Iterable[SeedRecord]], export: "ExportModule"
) -> dict[str, dict[str, Any]]:
    """Write the file of each split that has questions; return the first row of each, by split.

    A table without rows is none that readers of tables load.
    """
    columns = columns_of(export)
    first: dict[str, dict[str, Any]] = {}
    for split, seeds in by_split.items():
        found = question_rows(split, seeds, export)
        if split in export.WITHHELD:
            # The order in which they were drawn would tell what they were asked about.
            found = iter(sorted(found, key=lambda row: str(row["id"])))
        watched = _first_kept(found, split, first)
        path = folder / file_of(split)
        write_table(path, columns, watched, QUESTIONS_PER_GROUP)
        if split not in first:
            path.unlink()
    return first


def question_rows(
    split: str, seeds: Iterable[SeedRecord], export: "ExportModule"
) -> Iterator[dict[str, Any]]:
    """Yield a row of every question of the split.

    What is withheld of a question is not in its record, so these columns are empty.
    """
    for seed in seeds:
        passages = []
        for passage in seed["passages"]:
            text = passage["text"]
            told = {"sha256": text_digest(text), "n_characters": len(text), **passage}
            passages.append({name: told.get(name, "") for name in PASSAGE})
        for question in seed["questions"]:
            yield {
                "id": question["id"],
                "split": split,
                "question": question["text"],
                "seed_id": seed["id"] or None,
                "passages": passages,
                **_answered(question, export.answering(question)),
                **export.question_columns(seed, question),
            }


def words_of(payload: Mapping[str, Any]) -> str:
    """Return an answer in words: those marked, else the number, yes or no, else what was typed."""
    if marked := [span["text"] for span in payload.get("spans") or () if span["text"]]:
        return ", ".join(marked)
    if payload.get("value"):
        return f"{payload['value']} {payload.get('unit') or ''}".strip()
    if typed := payload.get("yes_no") or payload.get("short"):
        return str(typed)
    return "; ".join(str(text) for text in (payload.get("fields") or {}).values() if text)


def _first_kept(
    all_rows: Iterable[dict[str, Any]], split: str, first: dict[str, dict[str, Any]]
) -> Iterator[Row]:
    for row in all_rows:
        first.setdefault(split, row)
        yield row


def _answered(question: QuestionRecord, counting: Iterable[VoteRecord]) -> dict[str, Any]:
    """Return the columns of answers; those of a withheld question are empty."""
    released = chosen_vote(question)
    if released is None:
        return {"answers": [], "answer_spans": [], "synthetic": question["synthetic"]}
    return {
        "answer_type": released["type"],
        "answer": words_of(released["payload"]),
        "answer_spans": spans_of(released["payload"].get("spans")),
        "answers": [
            {
                "type": vote["type"],
                "text": words_of(vote["payload"]),
                "worker": vote["worker"] or "",
                "chosen": vote["chosen"],
                "agrees": vote["agrees"],
            }
            for vote in counting
        ],
        "synthetic": is_simulated(question),
    }
