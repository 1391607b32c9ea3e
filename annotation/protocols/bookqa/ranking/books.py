"""The books and questions that rankers rank, as plain texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotation.protocols.bookqa.export import question_ids
from annotation.protocols.bookqa.ranking.coverage import words
from collector.code_points import CodePoints
from collector.models import Book, Corpus


@dataclass(frozen=True)
class Question:
    """A question about a book with its answers; the id follows from the book and the words."""

    id: str
    text: str
    answers: tuple[str, ...]

    @cached_property
    def words(self) -> list[str]:
        """Return the words of the question."""
        return words(self.text)

    @cached_property
    def answer_words(self) -> list[list[str]]:
        """Return the words of each answer."""
        return [words(answer) for answer in self.answers]


@dataclass(frozen=True)
class RankedBook:
    """A book's passages in order, and what is asked about it; `set` as published, or blank."""

    document: str
    set: str
    passages: Sequence[str]
    questions: Sequence[Question]
    language: str = "en"
    places: Sequence[tuple[int, int]] = field(default_factory=list)

    @cached_property
    def words(self) -> list[list[str]]:
        """Return the words of each passage."""
        return [words(passage) for passage in self.passages]


def books_of(corpus: Corpus, *, asked_only: bool = True) -> Iterator[RankedBook]:
    """Yield the books one at a time, by their documents; those without questions unless told."""
    rows = Book.objects.filter(corpus=corpus).defer("front", "back")
    rows = rows.order_by(CodePoints("document"))
    if asked_only:
        rows = rows.filter(questions__isnull=False).distinct()
    for book in rows.prefetch_related("passages", "questions").iterator(chunk_size=1):
        places = [(one.start, one.end) for one in book.passages.all()]
        yield RankedBook(
            book.document,
            book.set,
            [book.text[start:end] for start, end in places],
            _questions(book),
            corpus.language,
            places,
        )


def _questions(book: Book) -> list[Question]:
    rows = book.questions.all()
    ids = question_ids((book.document, row.text) for row in rows)
    return [
        Question(name, row.text, tuple(row.answers)) for name, row in zip(ids, rows, strict=True)
    ]
