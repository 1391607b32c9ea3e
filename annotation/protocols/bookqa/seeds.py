"""Which books can be asked about: those with a summary that tells a story."""

import random
from collections.abc import Iterator
from uuid import NAMESPACE_URL, uuid5

from annotation.protocols.bookqa.parameters import Parameters
from collector.code_points import CodePoints
from collector.models import Corpus, Paragraph
from collector.seeds.candidate import Candidate

NOUN = "book"
COLUMNS = ("pk", "text", "article__title", "article__book__document", "article__book__set")
MORE = ("article__book__kind", "article__book__url", "article__book__table_rows")


def misfit(corpus: Corpus) -> str:
    """Return which corpora fit, unless this one has a book with a summary."""
    if Paragraph.objects.filter(article__corpus=corpus, article__book__isnull=False).exists():
        return ""
    return "It asks about books: only a corpus that ingest_books read with their summaries fits."


def candidates(corpus: Corpus, parameters: Parameters, rng: random.Random) -> Iterator[Candidate]:
    """Yield every book that has a summary, in an order drawn by `rng`.

    The one paragraph is the summary: who writes and who answers reads it, never the book.
    """
    limits = parameters.seeds
    summaries = Paragraph.objects.filter(article__corpus=corpus, article__book__isnull=False)
    rows = summaries.order_by(CodePoints("article__book__document")).values_list(*COLUMNS, *MORE)
    found = [
        row
        for row in rows
        if limits.min_summary_words <= len(row[1].split()) <= limits.max_summary_words
    ]
    rng.shuffle(found)
    for pk, text, title, document, part, kind, url, rows in found:
        yield Candidate(
            uuid5(NAMESPACE_URL, f"{document}\n{text}").hex,
            text,
            (pk,),
            {
                "document_id": document,
                "set": part,
                "kind": kind,
                "url": url,
                "title": title,
                "tables": rows,
            },
        )
