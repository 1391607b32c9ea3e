"""Ingests books into a corpus: each whole or not at all, those that it has passed over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pycountry
from django.db import transaction
from django.db.models import Count, Max, Sum

from collector.ingest.books.parsing import (
    DOCUMENTS,
    SUMMARIES,
    BookRecord,
    IdentifiedBook,
    Pair,
    Row,
    Tables,
    counted,
    identify_books,
    is_table,
    read_books,
    read_tables,
)
from collector.ingest.dump import direction_of
from collector.ingest.errors import BookError
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.licences import licence_address
from collector.ingest.segmentation import tokenizer
from collector.language_names import language_name
from collector.models import (
    Article,
    Book,
    BookKind,
    BookQuestion,
    Chapter,
    Corpus,
    Paragraph,
    Passage,
    Section,
)
from collector.models.corpus import CorpusKind, CorpusState
from common.storable import NotStorable, storable

PUBLIC_DOMAIN = "Public domain in the USA"
PUBLIC_DOMAIN_URL = "https://www.gutenberg.org/policy/license.html"
UNKNOWN = "unknown"
# Ours, as long as those of the work on whole books that protocols cite.
PASSAGE_TOKENS = 200


@dataclass(frozen=True)
class BookOptions:
    """How books are cut into passages."""

    passage_tokens: int = PASSAGE_TOKENS


@dataclass(frozen=True)
class IngestReport:
    """What one run did: names of the books that were stored, and of those the corpus had.

    `others`: pairs and summaries of documents whose books were not given.
    """

    corpus: Corpus
    stored: list[str]
    passed_over: list[str]
    marks_missing: list[str]
    others: int


Report = Callable[[str, int, int], None]


def ingest_books(
    paths: Sequence[Path],
    options: CorpusOptions,
    books: BookOptions,
    *,
    processes: int = 1,
    report: Report = lambda what, done, total: None,
) -> IngestReport:
    """Read books and the tables about them into the corpus; return what was done.

    Every file is looked at before anything is stored, so that a wrong one stores nothing; then
    each book is stored whole, and the same command goes on after the last. Raises BookError,
    DumpError for a licence without address, and what the database raises.
    """
    if options.licence and not options.licence_url:
        licence_address(options.licence)
    tables = read_tables(path for path in paths if is_table(path))
    files = [path for path in paths if not is_table(path)]
    by_document: dict[str, IdentifiedBook] = {}
    for number, each in enumerate(identify_books(files, tables, processes), start=1):
        other = by_document.setdefault(each.document, each)
        if other is not each:
            raise BookError(
                f"{each.path.name} and {other.path.name} are the same book, {each.document!r}; "
                "give one of them."
            )
        report("files", number, len(files))
    found = list(by_document.values())
    corpus = _corpus_of(found, options)
    known = set(corpus.books.values_list("document", flat=True)) if corpus.pk else set()
    documents = [each.document for each in found]
    tables.check_names([*documents, *known])
    new = [each for each in found if not _is_stored(corpus, each, books.passage_tokens)]
    more = _additions(corpus, tables, {*documents, *known}) if corpus.pk else {}
    if corpus.pk and (new or more):
        used = corpus.collections.order_by("slug").first()
        if used is not None:
            raise BookError(
                f"The collection {used.slug} uses the corpus {corpus.slug}, so it stays as it is; "
                "read new books into a corpus of their own."
            )
    if not corpus.pk:
        corpus.save(force_insert=True)
    for number, record in enumerate(
        read_books(new, corpus.language, books.passage_tokens, processes), start=1
    ):
        _store(corpus, record, tables, books.passage_tokens)
        report("books", number, len(new))
    for book, add in more.items():
        add(book)
    if options.licence:
        corpus.licence_name = options.licence
        corpus.licence_url = options.licence_url or licence_address(options.licence)
    elif corpus.licence_name in ("", PUBLIC_DOMAIN):
        free = all(each.bounds.is_gutenberg and not each.header.is_copyrighted for each in found)
        corpus.licence_name = PUBLIC_DOMAIN if free else UNKNOWN
        corpus.licence_url = PUBLIC_DOMAIN_URL if free else ""
    if options.name:
        corpus.name = options.name
    stored_books = corpus.books.all()
    corpus.source = "\n".join(sorted(stored_books.values_list("file_name", flat=True)))
    parts = {
        part: stored_books.aggregate(n=Count(part))["n"]
        for part in ("chapters", "passages", "questions")
    }
    corpus.counts = {
        "books": stored_books.count(),
        **parts,
        "summaries": Paragraph.objects.filter(article__corpus=corpus).count(),
        "tokens": stored_books.aggregate(n=Sum("n_tokens"))["n"] or 0,
    }
    corpus.state = CorpusState.READY
    corpus.save()
    stored = [each.document for each in new]
    there = {*documents, *known}
    return IngestReport(
        corpus,
        stored,
        [document for document in documents if document not in stored],
        [each.document for each in found if each.marks_missing],
        sum(len(pairs) for document, pairs in tables.pairs.items() if document not in there)
        + sum(document not in there for document in tables.summaries),
    )


def _corpus_of(found: Sequence[IdentifiedBook], options: CorpusOptions) -> Corpus:
    """Return the corpus, not stored yet where it is new; raises BookError for another kind."""
    told = {code for each in found if (code := language_code(each.header.language))}
    corpus = Corpus.objects.filter(slug=options.slug).first()
    if corpus is not None and corpus.kind != CorpusKind.BOOKS:
        raise BookError(f"The corpus {corpus.slug} holds no books; give these one of their own.")
    if corpus is None and not found:
        raise BookError(f"There is no corpus {options.slug!r} yet: give it books.")
    language = options.language or (corpus.language if corpus else min(told, default="en"))
    for each in found:
        code = language_code(each.header.language)
        if code and code != language and not options.language:
            raise BookError(
                f"{each.path.name} is in {language_name(code)}, the corpus {options.slug} in "
                f"{language_name(language)}; give it a corpus of its own, or say "
                f"--language {language} if the file is wrong."
            )
    if corpus is not None and corpus.language != language:
        raise BookError(
            f"The corpus {corpus.slug} is in {language_name(corpus.language)}, not in "
            f"{language_name(language)}."
        )
    if corpus is not None:
        return corpus
    try:
        return storable(
            Corpus(
                slug=options.slug,
                name=options.name or options.slug,
                kind=CorpusKind.BOOKS,
                language=language,
                direction=direction_of(language),
                licence_name=options.licence,
                licence_url=options.licence_url,
            )
        )
    except NotStorable as error:
        raise BookError(str(error)) from None


def language_code(name: str) -> str:
    """Return the code of a language by its English name, blank for one that has none."""
    language = pycountry.languages.get(name=name.partition(",")[0].strip()) if name else None
    return getattr(language, "alpha_2", getattr(language, "alpha_3", "")) if language else ""


def _is_stored(corpus: Corpus, found: IdentifiedBook, passage_tokens: int) -> bool:
    """Return whether the corpus has the book; raises BookError where it has another of its name."""
    book = (
        corpus.books.defer("front", "text", "back").filter(document=found.document).first()
        if corpus.pk
        else None
    )
    if book is None:
        return False
    if book.file_sha256 != found.sha256:
        raise BookError(
            f"{found.path.name} differs from the file that the corpus {corpus.slug} has read as "
            f"{found.document!r}; rename it, or ingest it into a corpus of its own."
        )
    if book.passage_tokens != passage_tokens:
        raise BookError(
            f"The corpus {corpus.slug} has passages of {book.passage_tokens} tokens; give books "
            f"cut into {passage_tokens} a corpus of their own."
        )
    return True


def _additions(
    corpus: Corpus, tables: Tables, documents: set[str]
) -> dict[Book, Callable[[Book], None]]:
    """Return what the tables say of stored books that have no pairs or no summary yet.

    Raises BookError where they say something else than is stored.
    """
    added: dict[Book, Callable[[Book], None]] = {}
    named = [*tables.pairs.keys() & documents, *tables.summaries.keys() & documents]
    for book in corpus.books.defer("front", "text", "back").filter(document__in=named):
        pairs, summary = tables.pairs.get(book.document, []), tables.summaries.get(book.document)
        have = [Pair(one.text, tuple(one.answers)) for one in book.questions.all()]
        told = list(book.article.paragraphs.values_list("text", flat=True))
        if (have and pairs and have != pairs) or (told and summary and told != [summary]):
            raise BookError(
                f"The tables say something else of {book.document!r} than the corpus "
                f"{corpus.slug} has; give them a corpus of their own."
            )
        new_pairs, new_summary = [] if have else pairs, None if told else summary
        if new_pairs or new_summary:
            row = tables.summary_rows.get(book.document)
            added[book] = partial(_add, pairs=new_pairs, summary=new_summary, summary_row=row)
    return added


def _add(book: Book, pairs: Sequence[Pair], summary: str | None, summary_row: Row | None) -> None:
    with transaction.atomic():
        if summary and summary_row:
            book.table_rows = {**book.table_rows, SUMMARIES: dict(summary_row)}
            book.save(update_fields=["table_rows"])
        _store_pairs(book, pairs)
        _store_summary(book.article, summary)


def _store(corpus: Corpus, record: BookRecord, tables: Tables, passage_tokens: int) -> None:
    """Store a book with all that belongs to it, all or nothing."""
    found = record.found
    with transaction.atomic():
        # Two commands that fill one corpus take turns, book by book.
        Corpus.objects.select_for_update().get(pk=corpus.pk)
        if corpus.books.filter(document=found.document).exists():
            return
        title = found.title
        if corpus.articles.filter(title=title).exists():
            title = f"{title} ({found.document[:40]})"
        last = corpus.articles.aggregate(last=Max("page_id"))["last"] or 0
        article = Article.objects.create(
            corpus=corpus, page_id=last + 1, title=title, revision_id=0
        )
        book = Book.objects.create(
            corpus=corpus,
            article=article,
            document=found.document,
            kind=found.row.kind if found.row else BookKind.BOOK,
            author=found.header.author[:300],
            set=found.row.set if found.row else "",
            url=_url(found),
            file_name=found.path.name[:255],
            file_sha256=found.sha256,
            encoding=found.encoding,
            front=record.front,
            text=record.text,
            back=record.back,
            n_tokens=record.n_tokens,
            passage_tokens=passage_tokens,
            tokenizer=tokenizer(),
            table_rows=_table_rows(record, tables),
        )
        Chapter.objects.bulk_create(
            Chapter(book=book, position=position, heading=heading, start=start, end=end)
            for position, (heading, start, end) in enumerate(record.chapters)
        )
        Passage.objects.bulk_create(
            Passage(book=book, position=position, start=start, end=end, n_tokens=number)
            for position, (start, end, number) in enumerate(record.passages)
        )
        _store_pairs(book, tables.pairs.get(found.document, []))
        _store_summary(article, tables.summaries.get(found.document))


def _table_rows(record: BookRecord, tables: Tables) -> dict[str, dict[str, str]]:
    """Return what tables say of the book, by the table's name; what they leave blank is counted."""
    found = record.found
    row = {name: cell for name, cell in found.row.row.items() if cell} if found.row else {}
    rows = {DOCUMENTS: {**counted(record.text, found.path.stat().st_size), **row}}
    if told := tables.summary_rows.get(found.document):
        rows[SUMMARIES] = dict(told)
    return rows


def _url(found: IdentifiedBook) -> str:
    if found.row:
        return found.row.url[:500]
    number = found.header.number
    return f"https://www.gutenberg.org/ebooks/{number}" if number else ""


def _store_pairs(book: Book, pairs: Sequence[Pair]) -> None:
    BookQuestion.objects.bulk_create(
        BookQuestion(book=book, position=position, text=pair.question, answers=list(pair.answers))
        for position, pair in enumerate(pairs)
    )


def _store_summary(article: Article, summary: str | None) -> None:
    if summary:
        section = Section.objects.create(article=article, position=0, level=0)
        Paragraph.objects.create(article=article, section=section, position=0, text=summary)
