"""NarrativeQA's layout, written and read back: documents.csv, qaps.csv and summaries.csv."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from annotation.records.parquet_tables import Column
from annotation.records.schema import (
    IMPORTED,
    PUBLISHED,
    ArticleRecord,
    Published,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
    chosen_vote,
    number,
    published_vote,
)
from annotation.records.schema import answering as agreeing
from common.spreadsheet import csv_lines

SPLITS = ("train", "dev", "test")
SET_OF_SPLIT = {"train": "train", "dev": "valid", "test": "test"}
SPLIT_OF_SET = {name: split for split, name in SET_OF_SPLIT.items()}
KIND_OF = {"book": "gutenberg", "screenplay": "movie"}
DOCUMENTS, QUESTIONS, SUMMARIES = "documents.csv", "qaps.csv", "summaries.csv"
COLUMNS = {
    DOCUMENTS: (
        *("document_id", "set", "kind", "story_url", "story_file_size", "wiki_url"),
        *("wiki_title", "story_word_count", "story_start", "story_end"),
    ),
    QUESTIONS: (
        *("document_id", "set", "question", "answer1", "answer2"),
        *("question_tokenized", "answer1_tokenized", "answer2_tokenized"),
    ),
    SUMMARIES: ("document_id", "set", "summary", "summary_tokenized"),
}
FILES_HOLD = {
    DOCUMENTS: "the books, with the set each is in, in the official layout",
    QUESTIONS: "the questions of all sets with two answers each, in the official layout",
    SUMMARIES: "the summaries that questions were asked about, in the official layout",
}
# What a reader of each file cannot do without.
NEEDED = {
    DOCUMENTS: ("document_id", "set", "kind", "wiki_title"),
    QUESTIONS: ("document_id", "set", "question", "answer1", "answer2"),
    SUMMARIES: ("document_id", "set", "summary"),
}
QUESTION_COLUMNS = {
    "document_id": Column("the id of the book or screenplay"),
    "kind": Column("gutenberg for a book, movie for a screenplay"),
    "answer1": Column("the answer of who asked, as in the official file"),
    "answer2": Column("the answer of somebody else, as in the official file"),
}
# The column of ids, which a file has where they do not follow from its rows: where of questions
# in the same words about one document not all are kept, or not in the order they were asked.
ID = "question_id"
_TOKEN = re.compile(r"\w+|[^\w\s'’]")
Row = dict[str, str]


def files(
    seeds_by_split: Mapping[str, Iterable[SeedRecord]], articles: Iterable[ArticleRecord] | None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the three files, each of all splits, by document; no article is needed."""
    yield DOCUMENTS, _file(DOCUMENTS, seeds_by_split, lambda split, seed: [_document(split, seed)])
    yield QUESTIONS, _file(QUESTIONS, seeds_by_split, _questions)
    yield SUMMARIES, _file(SUMMARIES, seeds_by_split, lambda split, seed: [_summary(split, seed)])


def answering(question: QuestionRecord) -> list[VoteRecord]:
    """Return the answer of who asked, then those of others: all are references, and none agrees."""
    others = agreeing(question)
    if not others:
        return []
    own: VoteRecord = {
        **published_vote(others[0]["type"], question["payload"], stage=question["stage"]),
        "worker": question["worker"],
        "synthetic": question["synthetic"],
    }
    return [own, *others]


def question_columns(seed: SeedRecord, question: QuestionRecord) -> dict[str, str]:
    """Return what a question's row holds beside what it holds in every protocol."""
    split = question["split"]
    assert split is not None
    row, document = _question(split, seed, question), _document(split, seed)
    given = {name: row[name] for name in ("answer1", "answer2")}
    return {
        "document_id": _document_id(seed),
        "kind": document.get("kind", ""),
        "answer": given["answer1"],
        **given,
    }


def _file(
    name: str, seeds_by_split: Mapping[str, Iterable[SeedRecord]], rows_of: Any
) -> Iterator[bytes]:
    """Yield the lines of a file; a file that was read has its own columns and order again."""
    found: list[tuple[str, list[Row]]] = [
        (_document_id(seed), [row for row in rows_of(split, seed) if row])
        for split, seeds in seeds_by_split.items()
        for seed in seeds
    ]
    found.sort(key=lambda one: one[0])
    rows = [row for _, each in found for row in each]
    if name == QUESTIONS:
        derived = question_ids((row["document_id"], row["question"]) for row in rows)
        if all(row.get(ID) == key for row, key in zip(rows, derived, strict=True)):
            rows = [{column: row[column] for column in COLUMNS[name]} for row in rows]
    yield _line(list(rows[0]) if rows else COLUMNS[name])
    for row in rows:
        yield _line(row.values())


def _line(cells: Iterable[str]) -> bytes:
    return "".join(csv_lines([cells], verbatim=True)).encode()


def _document_id(seed: SeedRecord) -> str:
    return str(seed["payload"]["document_id"])


def _document(split: str, seed: SeedRecord) -> Row:
    if IMPORTED in seed["payload"]:
        return _imported(seed["payload"]).get(DOCUMENTS, {})
    told = seed["payload"]
    # Of closed books neither title nor address is told.
    row = {"wiki_title": told.get("title", ""), **_of_corpus(told).get(DOCUMENTS, {})}
    row |= {
        "document_id": told["document_id"],
        "set": SET_OF_SPLIT[split],
        "kind": KIND_OF[told["kind"]],
        "story_url": told.get("url", ""),
    }
    return {column: row.get(column, "") for column in COLUMNS[DOCUMENTS]}


def _of_corpus(payload: Mapping[str, Any]) -> dict[str, Row]:
    """Return what the corpus knows of a book, by the table that says it."""
    # Collections of before have none.
    rows: dict[str, Row] = payload.get("tables") or {}
    return rows


def _imported(payload: Mapping[str, Any]) -> dict[str, Row]:
    """Return the rows of a document that was read, by the file they are of."""
    rows: dict[str, Row] = json.loads(payload[IMPORTED])
    return rows


def _summary(split: str, seed: SeedRecord) -> Row:
    if IMPORTED in seed["payload"]:
        return _imported(seed["payload"]).get(SUMMARIES, {})
    (passage,) = seed["passages"]
    told = _of_corpus(seed["payload"]).get(SUMMARIES, {})
    return {
        "document_id": _document_id(seed),
        "set": SET_OF_SPLIT[split],
        "summary": told.get("summary") or passage["text"],
        "summary_tokenized": told.get("summary_tokenized") or tokenized(passage["text"]),
    }


def _questions(split: str, seed: SeedRecord) -> list[Row]:
    return [_question(split, seed, question) for question in seed["questions"]]


def _question(split: str, seed: SeedRecord, question: QuestionRecord) -> Row:
    if IMPORTED in question["payload"]:
        row: Row = json.loads(question["payload"][IMPORTED])
        return row
    other = chosen_vote(question)
    assert other is not None
    texts = {
        "question": question["text"],
        "answer1": question["payload"]["fields"]["answer"],
        "answer2": other["payload"]["fields"]["answer"],
    }
    return {
        "document_id": _document_id(seed),
        "set": SET_OF_SPLIT[split],
        **texts,
        **{f"{name}_tokenized": tokenized(text) for name, text in texts.items()},
        ID: question["id"],
    }


def tokenized(text: str) -> str:
    """Return the tokens one blank apart, apostrophes dropped, as the published rows have them."""
    return " ".join(_TOKEN.findall(text))


def question_ids(asked: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield an id for each (document, question), from which it follows: the layout has none.

    The same question asked again about a document has another one.
    """
    times: Counter[tuple[str, str]] = Counter()
    for document, text in asked:
        yield _question_id(f"{document}\n{text}", times[document, text])
        times[document, text] += 1


def ids_of_rows(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the id of each row of a qaps.csv: its own, or one that follows from those before it."""
    rows = list(rows)
    derived = question_ids((row["document_id"], row["question"]) for row in rows)
    return (row.get(ID) or key for row, key in zip(rows, derived, strict=True))


def identified(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds with the ids of their questions, from document, words and number alone.

    Every question counts, kept or not, so that no verdict changes the id of another question.
    """
    taken: set[tuple[str, int]] = set()
    for seed in seeds:
        document = _document_id(seed)
        questions: list[QuestionRecord] = []
        for question in seed["questions"]:
            content = f"{document}\n{question['text']}"
            key = _question_id(content, number(question, content, taken, of_seed=True))
            own = json.loads(question["payload"].get(IMPORTED, "{}"))
            questions.append({**question, "id": own.get(ID) or key})
        yield {**seed, "questions": questions}


def _question_id(content: str, number: int) -> str:
    return uuid5(NAMESPACE_URL, f"{content}\n{number}").hex


def answers_by_id(name: str, content: bytes, part: str | None = None) -> dict[str, list[str]]:
    """Return both answers of each question of a qaps.csv, by its id; raises ValueError.

    part: of one set alone, where the table has several.
    """
    table, rows = read_table(name, content)
    if table != QUESTIONS:
        raise ValueError(f"{name}: it is a {table}; give {QUESTIONS}, which holds the questions.")
    ids = ids_of_rows(rows)
    whole = part is None or len({row["set"] for row in rows}) < 2
    return {
        key: [row["answer1"], row["answer2"]]
        for key, row in zip(ids, rows, strict=True)
        if whole or row["set"] == part
    }


def published(files: Mapping[str, bytes]) -> Published:
    """Return official files as records: one seed for each document that is asked about.

    qaps.csv is needed, the others say more of its documents. Raises ValueError naming the file and
    the line.
    """
    tables: dict[str, list[Row]] = {}
    for name, content in files.items():
        table, rows = read_table(name, content)
        if table in tables:
            raise ValueError(f"{name}: there is another {table} already; give one.")
        tables[table] = rows
    if QUESTIONS not in tables:
        raise ValueError(f"{', '.join(files)}: give {QUESTIONS}, which holds the questions.")
    documents = {row["document_id"]: row for row in tables.get(DOCUMENTS, [])}
    summaries = {row["document_id"]: row for row in tables.get(SUMMARIES, [])}
    asked: dict[str, list[Row]] = {}
    for line, row in enumerate(tables[QUESTIONS], start=2):
        if row["set"] not in SPLIT_OF_SET:
            raise ValueError(f"{QUESTIONS}, row {line}: there is no set {row['set']!r}.")
        if documents and row["document_id"] not in documents:
            raise ValueError(
                f"{QUESTIONS}, row {line}: {DOCUMENTS} has no document {row['document_id']!r}."
            )
        asked.setdefault(row["document_id"], []).append(row)
    seeds = [
        _seed(document, documents.get(document), summaries.get(document), rows)
        for document, rows in asked.items()
    ]
    return Published(dict.fromkeys(files, ""), seeds, None)


def read_table(name: str, content: bytes) -> tuple[str, list[Row]]:
    """Return which of the three files it is, and its rows; raises ValueError."""
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        columns = reader.fieldnames or ()
        kind = QUESTIONS if "question" in columns else SUMMARIES
        kind = DOCUMENTS if "wiki_title" in columns or "kind" in columns else kind
        for column in NEEDED[kind]:
            if column not in columns:
                raise ValueError(f"{name} lacks the column {column}.")
        rows = []
        for row in reader:
            if None in row or None in row.values():
                raise ValueError(f"{name}, line {reader.line_num}: it has not as many cells.")
            rows.append(row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{name}: it is no CSV ({error}).") from None
    return kind, rows


def _seed(document: str, row: Row | None, summary: Row | None, rows: Sequence[Row]) -> SeedRecord:
    told = {DOCUMENTS: row, SUMMARIES: summary}
    own = {name: value for name, value in told.items() if value is not None}
    title = row["wiki_title"] if row else document
    return {
        "id": document,
        "key": document,
        "fold": SPLIT_OF_SET[rows[0]["set"]],
        "payload": {"document_id": document, IMPORTED: json.dumps(own)},
        "passages": [
            {
                "title": f"{title} ({document[:8]})",
                "section": "",
                "text": summary["summary"].strip() if summary else "",
                "links": [],
            }
        ],
        "questions": [_read_question(document, number, row) for number, row in enumerate(rows)],
    }


def _read_question(document: str, number: int, row: Row) -> QuestionRecord:
    vote: VoteRecord = published_vote(
        "words", {"fields": {"answer": row["answer2"], "doubt": ""}}, stage="answer"
    )
    return {
        "id": f"{document}-{number}",
        "key": f"{document}-{number}",
        "text": row["question"],
        "payload": {"fields": {"answer": row["answer1"]}, IMPORTED: json.dumps(row)},
        "stage": "question",
        "worker": None,
        "synthetic": False,
        "verdict": PUBLISHED,
        "split": SPLIT_OF_SET[row["set"]],
        "votes": [vote],
    }
