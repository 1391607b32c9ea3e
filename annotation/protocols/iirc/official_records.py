"""Official files as records, so that they can be stored, compared, and written again equal."""

import json
from collections.abc import Iterator
from typing import Any

from annotation.protocols.iirc.dataset_tree import Article, Dataset, Passage, Question, Span
from annotation.records.schema import (
    IMPORTED,
    PUBLISHED,
    ArticleRecord,
    QuestionRecord,
    SeedRecord,
    published_vote,
)


def seed_records(dataset: Dataset) -> Iterator[SeedRecord]:
    """Yield every passage of an imported dataset with its questions, each kept in its fold.

    The file's own objects come along under IMPORTED; the ids are those of the file.
    """
    for fold, passages in dataset.folds.items():
        for number, passage in enumerate(passages):
            yield _seed(passage, fold, f"{fold}/{number}")


def article_records(dataset: Dataset) -> Iterator[ArticleRecord] | None:
    """Return the linked articles as the file has them, None when there was no file of them."""
    return None if dataset.articles is None else map(_article, dataset.articles)


def _article(article: Article) -> ArticleRecord:
    return {
        "title": article.title,
        "text": article.text,
        "links": [(link.start, link.end, link.target) for link in article.links],
        "imported": article.imported,
    }


def _seed(passage: Passage, fold: str, key: str) -> SeedRecord:
    # A few official offsets are negative or run over: they stay in the file's own object alone.
    links = [
        (link.start, link.end, link.target)
        for link in passage.links
        if 0 <= link.start < link.end <= len(passage.text)
    ]
    return {
        "id": passage.pid,
        "key": key,
        "fold": fold,
        "payload": {IMPORTED: json.dumps(passage.imported)},
        "passages": [
            {
                "title": passage.title,
                "section": "",
                "text": passage.text,
                "links": sorted(links, key=lambda link: link[:2]),
            }
        ],
        "questions": [
            _question(question, fold, f"{key}/{number}")
            for number, question in enumerate(passage.questions)
        ],
    }


def _question(question: Question, fold: str, key: str) -> QuestionRecord:
    answer = question.answer
    payload: dict[str, Any] = {
        "spans": [_span(span) for span in answer.spans],
        "value": "" if answer.type == "binary" else answer.value,
        "unit": answer.unit,
        "yes_no": answer.value if answer.type == "binary" else None,
        "reason": "",
        "context": [_span(span) for span in question.evidence],
    }
    return {
        "id": question.qid or "",
        "key": key,
        "text": question.text,
        "payload": {
            "context": [],
            "links": list(question.question_links),
            IMPORTED: json.dumps(question.imported),
        },
        "stage": "",
        "worker": None,
        "synthetic": False,
        "verdict": PUBLISHED.copy(),
        "split": fold,
        "votes": [published_vote(answer.type, payload)],
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "document": span.passage,
        "start": span.start,
        "end": span.end,
        "text": span.text,
    }
