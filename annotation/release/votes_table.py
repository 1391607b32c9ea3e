"""All votes on all questions, dropped ones and second readings too, as one Parquet file."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.release.records_schema import IMPORTED, QuestionRecord, SeedRecord, VoteRecord

FILE = "votes.parquet"
ROWS_PER_GROUP = 10_000
SPAN_FIELDS = ("document", "start", "end", "text")
# Columns that hold nested lists of spans, and those whose values are no strings.
SPAN_LISTS = ("question_context", "answer_spans", "answer_context")
TEXT_LISTS = ("question_links", "synthetic_fields")
BOOLEANS = ("overridden", "synthetic", "corrected", "chosen", "agrees")
COLUMNS = {
    "seed_id": "the released id of the passage or other start",
    "question_id": "the question's id in the official files; for dropped questions the one kept",
    "split": "the split the question is in; empty unless it is kept",
    "split_reason": "why it is in that split",
    "question": "the question's text",
    "question_worker": "pseudonym of who wrote the question",
    "question_context": "spans the question's writer marked",
    "question_links": "links the question's writer picked",
    "question_more": "whatever else the writer gave, as JSON; empty if nothing",
    "outcome": "kept, dropped or waiting",
    "reason": "why, in one word of the protocol",
    "overridden": "whether a requester decided against the agreement",
    "stage": "the stage in which the vote was given",
    "vote": "the vote's number among the question's votes, from 0, in order of submission",
    "worker": "pseudonym of who answered; empty for published files",
    "answer_type": "the type of the answer",
    "answer_spans": "spans of a span answer",
    "answer_value": "the number of a value answer, as typed",
    "answer_unit": "its unit",
    "answer_yes_no": "yes or no of a binary answer",
    "answer_context": "the evidence marked",
    "answer_reason": "why the question was called bad",
    "answer_more": "whatever else the answer holds, as JSON; empty if nothing",
    "hit_seconds": "active seconds of the whole HIT the vote was part of",
    "hit_items": "how many questions that HIT held",
    "synthetic": "whether a simulated worker wrote the question or gave the vote",
    "synthetic_fields": "what a simulation added to a person's vote; left out here",
    "corrected": "whether it is no vote: the requester entered it in place of the votes",
    "chosen": "whether this is the released answer",
    "agrees": "whether it agrees with the released answer",
}
INTEGERS = ("vote", "hit_seconds", "hit_items")
KNOWN = ("spans", "value", "unit", "yes_no", "reason", "context")
KNOWN_OF_QUESTION = ("context", "links", IMPORTED)


def write_votes(path: Path, seeds: Iterable[SeedRecord]) -> int:
    """Write one row per vote, in groups of ROWS_PER_GROUP; returns how many are votes."""
    import pyarrow as arrow
    from pyarrow import parquet

    schema = _schema(arrow)
    total = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in _groups(rows(seeds)):
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))
            total += sum(not row["corrected"] for row in group)
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
        "question_context": _spans(question["payload"].get("context")),
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
        "answer_spans": _spans(payload.get("spans")),
        "answer_value": payload.get("value") or "",
        "answer_unit": payload.get("unit") or "",
        "answer_yes_no": payload.get("yes_no") or "",
        "answer_context": _spans(payload.get("context")),
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


def _spans(spans: Iterable[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [{name: span.get(name) for name in SPAN_FIELDS} | _place(span) for span in spans or ()]


def _place(span: dict[str, Any]) -> dict[str, Any]:
    """Return the span's document as text: passages of a seed are told by number."""
    document = span.get("document")
    return {"document": document if document is None else str(document)}


def _groups(all_rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    for row in all_rows:
        group.append(row)
        if len(group) == ROWS_PER_GROUP:
            yield group
            group = []
    if group:
        yield group


def _schema(arrow: Any) -> Any:
    number, text = arrow.int64(), arrow.string()
    span = arrow.struct([("document", text), ("start", number), ("end", number), ("text", text)])
    kinds = {
        **dict.fromkeys(COLUMNS, text),
        **dict.fromkeys(INTEGERS, number),
        **dict.fromkeys(BOOLEANS, arrow.bool_()),
        **dict.fromkeys(SPAN_LISTS, arrow.list_(span)),
        **dict.fromkeys(TEXT_LISTS, arrow.list_(text)),
    }
    return arrow.schema(list(kinds.items()))
