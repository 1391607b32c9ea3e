"""Real questions about real books as the files that baselines are trained on, and recipes."""

import csv
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from annotation.protocols.bookqa.baselines import LABELS
from annotation.protocols.bookqa.export import (
    COLUMNS,
    DOCUMENTS,
    QUESTIONS,
    SUMMARIES,
    question_ids,
)
from annotation.protocols.bookqa.ranking import Question, RankedBook, ranked
from annotation.protocols.bookqa.ranking_files import (
    CANDIDATES,
    CLOZE,
    PASSAGES,
    SUPERVISION,
    MutualInformation,
    append,
    candidate_lines,
    cloze_lines,
    passage_lines,
    supervision_lines,
)
from annotation.protocols.bookqa.tests.ranking_making import ranking_numbers
from collector.ingest.books.parsing import book_bounds, passages
from collector.ingest.books.tests.making import document, table
from collector.ingest.decoding import decode
from collector.ingest.segmentation import tokens
from readers.bookqa.classifying import TYPES
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

# The shortest books with questions: two to learn from, two others.
LEARNT = ("The-Cask-of-Amontillado_1063", "Riders-to-the-Sea_994")
OTHERS = ("Crito_1657", "The-Legend-of-Sleepy-Hollow_41")
N_QUESTIONS = 16
DEPTH = 8


def story_files(
    folder: Path, data: Path, n_questions: int = N_QUESTIONS, depth: int = DEPTH
) -> list[Path]:
    """Write what rank_passages writes, of 32 questions to learn from and 32 of the set valid.

    n_questions: of each book, of which there are two in each set.
    """
    books, numbers = _books(data, n_questions), ranking_numbers(depth=depth, sigma=0.5)
    information = MutualInformation(books)
    for book in books:
        found = list(ranked([book], numbers, {}))
        append(folder / PASSAGES, passage_lines(book))
        append(folder / CANDIDATES, candidate_lines(found))
        append(folder / SUPERVISION, supervision_lines(found, numbers, 0))
        append(folder / CLOZE, cloze_lines(book, information, numbers))
    return [folder / name for name in (PASSAGES, CANDIDATES, SUPERVISION, CLOZE)]


def summary_files(folder: Path, data: Path, n_questions: int = N_QUESTIONS) -> list[Path]:
    """Write qaps.csv and summaries.csv of the same questions."""
    summaries = {row["document_id"]: row["summary_tokens"] for row in _rows(data)}
    pairs, told = [], []
    for book in _books(data, n_questions):
        base = {"document_id": book.document, "set": book.set}
        told.append({**base, "summary": summaries[book.document]})
        pairs += [
            {**base, "question": one.text, "answer1": one.answers[0], "answer2": one.answers[1]}
            for one in book.questions
        ]
    for name, rows in ((QUESTIONS, pairs), (SUMMARIES, told)):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS[name], restval="")
            writer.writeheader()
            writer.writerows(rows)
    return [folder / QUESTIONS, folder / SUMMARIES]


def release_files(folder: Path, data: Path) -> Path:
    """Write the files of a release, 10 questions to learn from and 10 of dev; return the folder."""
    story_files(folder, data, n_questions=5, depth=4)
    summary_files(folder, data, n_questions=5)
    table(folder / DOCUMENTS, document("ford"))
    rng = random.Random(0)
    rows = [
        {"id": line["id"], "question": line["question"], "question_type": rng.choice(TYPES)}
        for line in lines(folder / CANDIDATES)
    ]
    with (folder / LABELS).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def lines(path: Path) -> list[Any]:
    """Return what the lines of a file hold."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def dev_file(folder: Path, data: Path) -> Path:
    """Write the references of the questions of the set valid."""
    gold = {
        one.id: list(one.answers)
        for book in _books(data, N_QUESTIONS)
        for one in book.questions
        if book.set == "valid"
    }
    path = folder / "dev.json"
    path.write_text(json.dumps(gold), "utf-8")
    return path


def run_of(
    name: str, files: Sequence[Path], dev: Path, out: Path, values: dict[str, Any], **more: Any
) -> Run:
    """Return a run with a recipe of these values."""
    out.mkdir(parents=True, exist_ok=True)
    made = Run("bookqa", name, tuple(files), dev, out, Recipe("tests", values), **more)
    made.begin()
    return made


@lru_cache
def _rows(data: Path) -> list[Any]:
    lines = (data / "replay" / "narrativeqa_books.jsonl").read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


@lru_cache
def _books(data: Path, n_questions: int) -> list[RankedBook]:
    return [
        replace(_book(data, name, n_questions), set=part)
        for part, names in (("train", LEARNT), ("valid", OTHERS))
        for name in names
    ]


def _book(data: Path, name: str, n_questions: int) -> RankedBook:
    # Once each: nobody can learn two answers to the same words.
    by_question = {row["question_tokens"]: row for row in _rows(data) if row["book"] == name}
    rows = list(by_question.values())[:n_questions]
    document = rows[0]["document_id"]
    ids = question_ids((document, row["question_tokens"]) for row in rows)
    asked = [
        Question(key, row["question_tokens"], tuple(row["answers_tokens"]))
        for key, row in zip(ids, rows, strict=True)
    ]
    path = data / "books" / f"{name}.txt"
    whole = decode(path.read_bytes(), path.name).text
    story = book_bounds(whole, path.name)
    text = whole[story.start : story.end]
    places = [(first, last) for first, last, _ in passages(tokens(text, "en"), 200)]
    texts = [text[first:last] for first, last in places]
    return RankedBook(document, "train", texts, asked, "en", places)
