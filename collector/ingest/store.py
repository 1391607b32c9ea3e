"""Stores records as rows: one batch, one transaction, together with how far the file is read."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import connection, transaction
from django.db.models import Model

from collector.ingest.records import CategoryRecord, OtherRecord, PageRecord, Record, SkippedRecord
from collector.models.corpus import (
    Article,
    ArticleCategory,
    ArticleKind,
    Category,
    Corpus,
    DumpFile,
    Paragraph,
    ParagraphKind,
    Section,
    SkippedPage,
    Subcategory,
)
from common.command_line import MANAGE

# SQLite's executemany runs in C; PostgreSQL wants many rows in one statement.
ROWS_PER_STATEMENT = 1000


def reserve_ids(model: type[Model], n: int) -> range | list[int]:
    """Return `n` ids for new rows of `model` that nobody else will get.

    Expects a transaction; on SQLite it must be an immediate one, which lets no one else write.
    """
    if n == 0:
        return range(0)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [table, n],
            )
            return [row[0] for row in cursor.fetchall()]
        # The sequence outlives deleted rows, so that an id is never given twice.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [model._meta.db_table])
        row = cursor.fetchone()
        first = (row[0] if row else 0) + 1
        return range(first, first + n)


def insert_rows(
    model: type[Model],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    ignore_conflicts: bool = False,
) -> None:
    """Insert `rows` (one value per column name) into the model's table.

    JSON goes in as text. Expects a transaction. With `ignore_conflicts`, rows that a constraint
    refuses are left out.
    """
    if not rows:
        return
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    tail = " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
    start = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES "
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            from psycopg2.extras import execute_values

            statement = f"{start}%s{tail}"
            execute_values(cursor.cursor, statement, rows, page_size=ROWS_PER_STATEMENT)
        else:
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"{start}({marks}){tail}", rows)


MAX_NAME = 300
_DISK_FULL = ("disk is full", "no space left", "disk full")

_ARTICLE_COLUMNS = (
    *("id", "corpus_id", "page_id", "title", "kind", "redirect_target"),
    *("revision_id", "revision_timestamp", "is_list", "infoboxes"),
)
_PARAGRAPH_COLUMNS = (
    *("article_id", "section_id", "position", "kind", "text"),
    *("links", "n_links", "n_links_in_corpus", "splitter", "pages"),
)
_PLURALS = {
    ArticleKind.ARTICLE: "articles",
    ArticleKind.REDIRECT: "redirects",
    ArticleKind.DISAMBIGUATION: "disambiguations",
    ParagraphKind.PARAGRAPH: "paragraphs",
    ParagraphKind.LIST_ITEM: "list_items",
}


class AlreadyReading(Exception):
    """Another process stores pages of the same file; the message says what to do."""


def store_records(dump_file: DumpFile, records: Sequence[Record]) -> None:
    """Store the next records of `dump_file` and move its `pages_done`, all or nothing.

    A page whose title or id the corpus already has is skipped with that reason. Raises
    AlreadyReading if another process has moved `pages_done` meanwhile.
    """
    with transaction.atomic():
        # Two files of one corpus may be read at once: they take turns, batch by batch.
        Corpus.objects.select_for_update().get(pk=dump_file.corpus_id)
        skipped = [record for record in records if isinstance(record, SkippedRecord)]
        pages = [record for record in records if isinstance(record, PageRecord)]
        stored = Article.objects.filter(corpus_id=dump_file.corpus_id)
        titles = set(
            stored.filter(title__in=[page.title for page in pages]).values_list("title", flat=True)
        )
        ids = set(
            stored.filter(page_id__in=[page.page_id for page in pages]).values_list(
                "page_id", flat=True
            )
        )
        new, repeated = [], []
        for page in pages:
            if page.title in titles:
                repeated.append(SkippedRecord(page.title, "the corpus has a page of that title"))
            elif page.page_id in ids:
                repeated.append(
                    SkippedRecord(page.title, f"the corpus has a page with the id {page.page_id}")
                )
            else:
                titles.add(page.title)
                ids.add(page.page_id)
                new.append(page)
        counts = _counted(records, new, skipped + repeated)
        insert_pages(dump_file.corpus_id, new)
        categories = [each for each in records if isinstance(each, CategoryRecord)]
        id_of = _category_ids(
            dump_file.corpus_id,
            {title for each in categories for title in (each.title, *each.parents) if title},
        )
        rows = [
            (id_of[parent[:MAX_NAME]], id_of[each.title[:MAX_NAME]])
            for each in categories
            for parent in each.parents
            if each.title and parent != each.title
        ]
        insert_rows(Subcategory, ("parent_id", "child_id"), rows, ignore_conflicts=True)
        insert_rows(
            SkippedPage,
            ("dump_file_id", "title", "reason"),
            [(dump_file.pk, each.title[:MAX_NAME], each.reason) for each in skipped + repeated],
        )
        done = dump_file.pages_done + len(records)
        merged = _merged(dump_file.counts, counts)
        moved = DumpFile.objects.filter(pk=dump_file.pk, pages_done=dump_file.pages_done).update(
            pages_done=done, counts=merged
        )
        if not moved:
            raise AlreadyReading(
                f"another process is reading {dump_file.name} into this corpus; "
                "wait for it to finish, or stop it and run the same command again."
            )
    dump_file.pages_done, dump_file.counts = done, merged


def insert_pages(corpus_id: int, pages: Sequence[PageRecord]) -> Sequence[int]:
    """Insert articles with all that is in them; return their ids. Expects a transaction."""
    article_ids = reserve_ids(Article, len(pages))
    section_ids = iter(reserve_ids(Section, sum(len(page.sections) for page in pages)))
    articles, sections, paragraphs = [], [], []
    for article_id, page in zip(article_ids, pages, strict=True):
        timestamp = None
        if page.timestamp:
            moment = datetime.strptime(page.timestamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
            timestamp = connection.ops.adapt_datetimefield_value(moment)
        articles.append(
            (
                article_id,
                corpus_id,
                page.page_id,
                page.title,
                page.kind,
                page.redirect_target[:MAX_NAME],
                page.revision_id,
                timestamp,
                page.is_list,
                orjson.dumps(page.infoboxes).decode() if page.infoboxes else "[]",
            )
        )
        ids = []
        for position, (level, heading) in enumerate(page.sections):
            ids.append(next(section_ids))
            sections.append((ids[-1], article_id, position, level, heading))
        for position, (section, kind, text, links) in enumerate(page.paragraphs):
            packed = orjson.dumps(links).decode() if links else "[]"
            n_links = len({target for _, _, target in links})
            of_pages = orjson.dumps(page.pages[position]).decode() if page.pages else None
            paragraphs.append(
                (article_id, ids[section], position, kind, text, packed, n_links, 0, "", of_pages)
            )
    insert_rows(Article, _ARTICLE_COLUMNS, articles)
    insert_rows(Section, ("id", "article_id", "position", "level", "heading"), sections)
    insert_rows(Paragraph, _PARAGRAPH_COLUMNS, paragraphs)
    _insert_categories(corpus_id, list(zip(article_ids, pages, strict=True)))
    return article_ids


def _insert_categories(corpus_id: int, pages: list[tuple[int, PageRecord]]) -> None:
    ids = _category_ids(corpus_id, {title for _, page in pages for title in page.categories})
    rows = [
        (article_id, ids[title[:MAX_NAME]])
        for article_id, page in pages
        for title in page.categories
    ]
    insert_rows(ArticleCategory, ("article_id", "category_id"), rows, ignore_conflicts=True)


def _category_ids(corpus_id: int, named: set[str]) -> dict[str, int]:
    """Return the ids of categories by title, those of titles the corpus had none of made now."""
    titles = sorted({title[:MAX_NAME] for title in named})
    rows = [(corpus_id, title) for title in titles]
    insert_rows(Category, ("corpus_id", "title"), rows, ignore_conflicts=True)
    stored = Category.objects.filter(corpus_id=corpus_id, title__in=titles)
    return dict(stored.values_list("title", "id"))


def _counted(
    records: Sequence[Record], pages: list[PageRecord], skipped: list[SkippedRecord]
) -> dict[str, Any]:
    counts: Counter[str] = Counter({"pages": len(records)})
    for page in pages:
        counts[_PLURALS[ArticleKind(page.kind)]] += 1
        counts["formulas_left_out"] += page.n_formulas
        counts["lists"] += page.is_list and page.kind == ArticleKind.ARTICLE
        for _, kind, _, links in page.paragraphs:
            counts[_PLURALS[ParagraphKind(kind)]] += 1
            counts["links"] += len(links)
    for record in records:
        counts["category_pages"] += isinstance(record, CategoryRecord)
        counts["other_namespaces"] += isinstance(record, OtherRecord)
    reasons = Counter(each.reason.partition(" id ")[0] for each in skipped)
    return {**counts, "skipped": len(skipped), "skipped_by_reason": dict(reasons)}


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the sums of both, reason by reason."""
    merged = dict(old)
    for key, value in new.items():
        if isinstance(value, dict):
            merged[key] = _merged(old.get(key, {}), value)
        else:
            merged[key] = old.get(key, 0) + value
    return merged


def storing_failure(error: Exception) -> str:
    """Return in one sentence why the database or the disk did not take what was read."""
    text = " ".join(str(error).split())
    if any(words in text.lower() for words in _DISK_FULL):
        return (
            "the disk is full; free some space and run the same command: what was stored before "
            "stays and is not read twice."
        )
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: it cannot be read or written ({error.strerror})."
    if "no such table" in text or 'relation "' in text:
        return f"the database has no tables yet; run {MANAGE} migrate first."
    return f"the database refused the rows: {text}"
