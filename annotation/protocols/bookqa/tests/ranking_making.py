"""Books, questions and numbers that tests rank by; and the real ones, where they are at hand."""

from pathlib import Path
from typing import Any

import orjson

from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.ranking import Question, RankedBook
from collector.ingest.books.parsing import book_bounds, passages
from collector.ingest.decoding import decode
from collector.ingest.segmentation import tokens
from collector.protocols.loading import get_protocol


def ranking_numbers(**changed: object) -> RankingTable:
    """Return the numbers of protocol.toml, some of them changed."""
    parameters: Any = get_protocol("bookqa").parameters()
    return RankingTable.model_validate({**parameters.ranking.model_dump(), **changed})


def book(*texts: str, name: str = "ford", asked: tuple[Question, ...] = ()) -> RankedBook:
    """Return a book of these passages."""
    return RankedBook(name, "valid", texts, asked, "en", [(0, len(text)) for text in texts])


def question(text: str, *answers: str, name: str = "q") -> Question:
    """Return a question with its answers."""
    return Question(name, text, answers)


def real_books(data: Path, n_books: int = 20) -> list[RankedBook]:
    """Return real books with the questions that are asked about them."""
    asked: dict[str, list[Question]] = {}
    names: dict[str, str] = {}
    lines = (data / "replay" / "narrativeqa_books.jsonl").read_bytes().splitlines()
    for number, line in enumerate(lines):
        row = orjson.loads(line)
        made = Question(str(number), row["question_tokens"], tuple(row["answers_tokens"]))
        asked.setdefault(row["document_id"], []).append(made)
        names[row["document_id"]] = row["book"]
    found = []
    for document, questions in list(asked.items())[:n_books]:
        path = data / "books" / f"{names[document]}.txt"
        whole = decode(path.read_bytes(), path.name).text
        story = book_bounds(whole, path.name)
        text = whole[story.start : story.end]
        places = [(first, last) for first, last, _ in passages(tokens(text, "en"), 200)]
        texts = [text[first:last] for first, last in places]
        found.append(RankedBook(document, "valid", texts, questions, "en", places))
    return found
