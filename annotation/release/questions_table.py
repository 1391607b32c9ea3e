"""The questions of each split as one Parquet file: typed columns, the same in every split."""

import re
from collections.abc import Iterable, Iterator, Mapping
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
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    is_simulated,
)
from annotation.release.closed_text import text_digest

if TYPE_CHECKING:
    from annotation.protocols.contracts import ExportModule

# A row may hold ten passages and more.
ROWS_PER_GROUP = 1_000
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
COLUMNS = {
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


def file_of(split: str) -> str:
    """Return the name of the split's file."""
    return f"questions-{name_of(split)}.parquet"


def name_of(split: str) -> str:
    """Return the split's name as readers of tables take it: letters, digits and underscores."""
    return NOT_IN_A_NAME.sub("_", split)


def columns_of(export: "ExportModule") -> dict[str, Column]:
    """Return the columns of a protocol's questions: those of all protocols, then its own."""
    return {**COLUMNS, **export.QUESTION_COLUMNS}


def write_questions(
    folder: Path, by_split: Mapping[str, Iterable[SeedRecord]], export: "ExportModule"
) -> dict[str, dict[str, Any]]:
    """Write the file of each split that has questions; return the first row of each, by split.

    A table without rows is none that readers of tables load.
    """
    columns = columns_of(export)
    first: dict[str, dict[str, Any]] = {}
    for split, seeds in by_split.items():
        found = rows(split, seeds, export)
        if split in export.WITHHELD:
            # The order in which they were drawn would tell what they were asked about.
            found = iter(sorted(found, key=lambda row: str(row["id"])))
        watched = _first_kept(found, split, first)
        path = folder / file_of(split)
        write_table(path, columns, watched, ROWS_PER_GROUP)
        if split not in first:
            path.unlink()
    return first


def rows(
    split: str, seeds: Iterable[SeedRecord], export: "ExportModule"
) -> Iterator[dict[str, Any]]:
    """Yield a row of every question of the split.

    What is withheld of a question is not in its record, so these columns are empty.
    """
    for seed in seeds:
        passages = [_passage(passage) for passage in seed["passages"]]
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


def _passage(passage: PassageRecord) -> dict[str, Any]:
    text = passage["text"]
    told = {"sha256": text_digest(text), "n_characters": len(text), **passage}
    return {name: told.get(name, "") for name in PASSAGE}


def _answered(question: QuestionRecord, counting: Iterable[VoteRecord]) -> dict[str, Any]:
    """Return the columns of answers; those of a withheld question are empty."""
    released = chosen_vote(question)
    if released is None:
        return {"answers": [], "answer_spans": [], "synthetic": question["synthetic"]}
    return {
        "answer_type": released["type"],
        "answer": words_of(released["payload"]),
        "answer_spans": spans_of(released["payload"].get("spans")),
        "answers": [_answer(vote) for vote in counting],
        "synthetic": is_simulated(question),
    }


def _answer(vote: VoteRecord) -> dict[str, Any]:
    return {
        "type": vote["type"],
        "text": words_of(vote["payload"]),
        "worker": vote["worker"] or "",
        "chosen": vote["chosen"],
        "agrees": vote["agrees"],
    }
