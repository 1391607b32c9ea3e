"""Ingests documents into a corpus: each whole or not at all, those that it has passed over."""

import pickle
import posixpath
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from django.db import transaction
from django.db.models import Count, Max, Sum

from collector.ingest.documents.blocks import (
    MOST_LEFT_OUT,
    losses_told,
    sections_of,
    share_left_out,
    size,
)
from collector.ingest.documents.catalogue import formats
from collector.ingest.documents.files import DocumentFile, find_files
from collector.ingest.documents.reading import FoundDocument, LeftOut, are_alike, read_files
from collector.ingest.dump import direction_of
from collector.ingest.errors import DocumentError
from collector.ingest.ingestion import CorpusOptions
from collector.ingest.licences import LONGEST, SEVERAL, UNKNOWN, licence_address
from collector.ingest.lines import Link
from collector.ingest.link_resolution import resolve_links
from collector.ingest.records import ARTICLE, PageRecord
from collector.ingest.store import MAX_NAME, insert_pages
from collector.language_names import language_name
from collector.models import Article, Corpus, Document, Paragraph
from collector.models.corpus import CorpusKind, CorpusState, ParagraphKind
from collector.models.documents import curators_of, named, users_of_documents
from collector.retrieval.passages import build_again
from collector.retrieval.terms import alike
from common.storable import NotStorable, storable

# Of the neighbouring words, by signatures: a later version of a text has as many of the earlier
# one's; two texts of their own on one subject have a tenth at most.
NEARLY = 0.8
NAMED_ALIKE = 5


def duplicates(corpus: Corpus, new: Set[str]) -> Iterator[str]:
    """Yield a sentence for each group of documents that are alike and of which one is `new`.

    Reads the whole corpus once; the work grows with its text.
    """
    names, same_text = list[str](), dict[bytes, int]()
    first_of: list[int] = []

    def read() -> Iterator[str]:
        for name, text in _texts(corpus):
            first_of.append(same_text.setdefault(sha256(text.encode()).digest(), len(names)))
            names.append(name)
            yield text

    groups: dict[int, list[int]] = {}
    for number, group in enumerate(alike(read(), NEARLY)):
        groups.setdefault(group, []).append(number)
    for numbers in groups.values():
        if len(numbers) > 1 and not new.isdisjoint(names[number] for number in numbers):
            is_equal = len({first_of[number] for number in numbers}) == 1
            are = "have the same text" if is_equal else "are nearly the same"
            yield f"{_listed([names[number] for number in numbers])} {are}: is one of them enough?"


def _texts(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield the id of each document with a text that stands for its words and their order."""
    rows = (
        Paragraph.objects.filter(article__corpus=corpus)
        .order_by("article__page_id", "position")
        .values_list("article__document__external_id", "text")
    )
    for name, paragraphs in groupby(rows.iterator(chunk_size=2000), key=lambda row: row[0]):
        yield name, "\n".join(text for _, text in paragraphs)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED_ALIKE} more" if names[NAMED_ALIKE:] else ""
    if more or len(names) == 1:
        return ", ".join(names[:NAMED_ALIKE]) + more
    return f"{', '.join(names[:-1])} and {names[-1]}"


BATCH = 50
# How many files are named as the corpus's source, and documents of which much is left out.
NAMED = 20
READING, STORING = "Reading files", "Storing documents"
Report = Callable[[str, int, int], None]


@dataclass
class IngestReport:
    """What one run did: ids of documents that are new, or changed and were read again.

    `left_out` and `notes` are sentences, each of which names a file or document.
    """

    corpus: Corpus
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Known:
    """A document that the corpus has."""

    sha256: str
    title: str
    file_name: str
    format: str


@dataclass(frozen=True)
class _Entry:
    """A document that was read and lies in the spool at `place`."""

    external_id: str
    title: str
    sha256: str
    file_name: str
    language: str
    n_letters: int
    place: int


def ingest_documents(
    paths: Sequence[Path],
    options: CorpusOptions,
    *,
    processes: int = 1,
    report: Report = lambda what, done, total: None,
    stored: Callable[[IngestReport], object] = lambda done: None,
) -> IngestReport:
    """Read files, folders and zip archives of documents into the corpus; return what was done.

    What cannot be read is left out and named, the rest is stored. A document that the corpus has
    is passed over, or read again if it has changed and no collection needs it as it was. stored: is
    told what is stored by now, in the transaction that does it. Raises DocumentError, DumpError for
    a licence without address, and what the database raises.
    """
    if options.licence and not options.licence_url:
        licence_address(options.licence)
    corpus = Corpus.objects.filter(slug=options.slug).first()
    if corpus is not None and corpus.kind != CorpusKind.DOCUMENTS:
        raise DocumentError(
            f"The corpus {corpus.slug} holds no documents; give these one of their own."
        )
    if corpus is not None and options.language and options.language != corpus.language:
        raise DocumentError(f"The corpus {corpus.slug} is in {language_name(corpus.language)}.")
    known = _known(corpus)
    files, left_out = find_files(paths)
    with tempfile.TemporaryFile() as spool:
        entries, unchanged = _read(files, known, spool, left_out, processes, report)
        entries = _without_doubles(entries, left_out)
        language = options.language or (corpus.language if corpus else _most_common(entries))
        entries = _of_language(entries, language, options, left_out)
        if not entries and not unchanged:
            raise DocumentError("\n".join(left_out) or "There is no document among these files.")
        new = [each for each in entries if each.external_id not in known]
        changed = [
            each
            for each in entries
            if each.external_id in known and known[each.external_id].sha256 != each.sha256
        ]
        unchanged += len(entries) - len(new) - len(changed)
        if corpus is not None and (new or changed):
            if users := curators_of(corpus):
                raise DocumentError(
                    f"{named(users)} has sets of pages of the corpus {corpus.slug}, so it stays as "
                    "it is; read new documents into a corpus of their own."
                )
            needed = set()
            for each in changed:
                articles = corpus.articles.filter(document__external_id=each.external_id)
                if users := users_of_documents(corpus, articles):
                    needed.add(each.external_id)
                    left_out.append(
                        f"{each.external_id} has changed, but workers of {named(users)} can be "
                        "shown it as it was, so it stays: give what is new an id of its own."
                    )
            changed = [each for each in changed if each.external_id not in needed]
        corpus = corpus or _created(options, language)
        done = IngestReport(corpus, unchanged=unchanged, left_out=left_out)
        if new or changed:
            wanted = {each.external_id for each in (*new, *changed)}
            _store_all(
                corpus,
                [each for each in entries if each.external_id in wanted],
                known,
                spool,
                done,
                report,
                stored,
            )
    if options.licence:
        corpus.licence_name = options.licence
        corpus.licence_url = options.licence_url or licence_address(options.licence)
    if options.name:
        corpus.name = options.name
    count_again(corpus, is_licence_given=bool(options.licence))
    if new or changed:
        done.notes += duplicates(corpus, {each.external_id for each in (*new, *changed)})
    # Workers search what was indexed before, until this is done; a run before may have died here.
    build_again(corpus)
    return done


def _known(corpus: Corpus | None) -> dict[str, _Known]:
    if corpus is None:
        return {}
    rows = corpus.documents.values_list(
        "external_id", "sha256", "article__title", "file_name", "format"
    )
    return {row[0]: _Known(*row[1:]) for row in rows}


def _read(
    files: Sequence[DocumentFile],
    known: Mapping[str, _Known],
    spool: IO[bytes],
    left_out: list[str],
    processes: int,
    report: Report,
) -> tuple[list[_Entry], int]:
    """Return what was read, its text in the spool, and how many files are as they were."""
    # Of a table, one file holds many documents: their checksums are of rows.
    tables = {name for name, each in formats().items() if each.has_rows}
    before = {each.file_name: each.sha256 for each in known.values() if each.format not in tables}
    entries: list[_Entry] = []
    unchanged = 0
    for number, found in enumerate(read_files(files, processes, before), start=1):
        unchanged += not found
        for each in found:
            if isinstance(each, LeftOut):
                left_out.append(each.why)
            else:
                place = spool.tell()
                pickle.dump(each, spool)
                n_letters = sum(len(block.text) for block in each.text.blocks)
                entries.append(
                    _Entry(
                        each.external_id,
                        each.title,
                        each.sha256,
                        each.file_name,
                        each.language,
                        n_letters,
                        place,
                    )
                )
        report(READING, number, len(files))
    return entries, unchanged


def _without_doubles(entries: list[_Entry], left_out: list[str]) -> list[_Entry]:
    """Leave out all documents of one id: nobody but the requester knows which is meant."""
    named: dict[str, list[_Entry]] = {}
    for each in entries:
        named.setdefault(each.external_id, []).append(each)
    for external_id, same in named.items():
        if len(same) > 1:
            files = " and ".join(sorted({each.file_name for each in same}))
            left_out.append(
                f"{len(same)} documents have the id {external_id!r} ({files}): give one of them."
            )
    return [each for each in entries if len(named[each.external_id]) == 1]


def _most_common(entries: Sequence[_Entry]) -> str:
    """Return the language that most of the text is in, English where nothing tells."""
    letters: Counter[str] = Counter()
    for each in entries:
        letters[each.language] += each.n_letters if each.language else 0
    told = [code for code, number in letters.most_common() if code and number]
    return told[0] if told else "en"


def _of_language(
    entries: list[_Entry], language: str, options: CorpusOptions, left_out: list[str]
) -> list[_Entry]:
    """Leave out what is in another language, unless the language was said."""
    if options.language:
        return entries
    kept = []
    for each in entries:
        if not each.language or are_alike(each.language, language):
            kept.append(each)
        else:
            left_out.append(
                f"{each.external_id} is in {language_name(each.language)}, the corpus in "
                f"{language_name(language)}: give it a corpus of its own, or say the "
                "language if this is wrong."
            )
    return kept


def _created(options: CorpusOptions, language: str) -> Corpus:
    try:
        corpus = storable(
            Corpus(
                slug=options.slug,
                name=options.name or options.slug,
                kind=CorpusKind.DOCUMENTS,
                language=language,
                direction=direction_of(language),
            )
        )
    except NotStorable as error:
        raise DocumentError(str(error)) from None
    corpus.save(force_insert=True)
    return corpus


def _store_all(
    corpus: Corpus,
    entries: Sequence[_Entry],
    known: Mapping[str, _Known],
    spool: IO[bytes],
    done: IngestReport,
    report: Report,
    stored: Callable[[IngestReport], object],
) -> None:
    Corpus.objects.filter(pk=corpus.pk).update(state=CorpusState.INGESTING)
    replaced = {each.external_id for each in entries}
    titles = {name: one.title for name, one in known.items() if name not in replaced}
    titles |= _titles(entries, set(titles.values()))
    targets = {title: title for title in titles.values()} | titles
    losses: list[tuple[float, str]] = []
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        found = list(_from_spool(batch, spool))
        with transaction.atomic():
            rows = _store(corpus, found, titles, targets)
            for one, row in zip(found, rows, strict=True):
                (done.changed if one.external_id in known else done.added).append(one.external_id)
                done.notes += [f"{one.external_id}: {note}" for note in one.text.notes]
                if (share := share_left_out(row.n_characters or 0, row.left_out)) > MOST_LEFT_OUT:
                    told = losses_told(row.n_characters or 0, row.left_out)
                    losses.append((share, f"{one.external_id} loses {told}."))
            stored(done)
        report(STORING, start + len(batch), len(entries))
    losses.sort(key=lambda loss: -loss[0])
    done.notes += [note for _, note in losses[:NAMED]]
    if more := len(losses[NAMED:]):
        done.notes.append(
            f"{more:,} more documents lose over {100 * MOST_LEFT_OUT:.0f} % of their text: each "
            "one's page says how much of what."
        )


def _titles(entries: Sequence[_Entry], taken: set[str]) -> dict[str, str]:
    """Return the title of each document by its id, told apart where several have one title."""
    titles = {}
    for each in entries:
        title, number = each.title, 1
        while title in taken:
            more = each.external_id if number == 1 else f"{each.external_id}, {number}"
            title = f"{each.title[: MAX_NAME - len(more) - 3]} ({more})"
            number += 1
        taken.add(title)
        titles[each.external_id] = title
    return titles


def _from_spool(entries: Sequence[_Entry], spool: IO[bytes]) -> Iterator[FoundDocument]:
    for each in entries:
        spool.seek(each.place)
        yield pickle.load(spool)


def _store(
    corpus: Corpus,
    batch: Sequence[FoundDocument],
    titles: Mapping[str, str],
    targets: Mapping[str, str],
) -> list[Document]:
    """Return the rows of documents, stored in place of those of their ids, all or none."""
    with transaction.atomic():
        # Two commands that fill one corpus take turns, batch by batch.
        Corpus.objects.select_for_update().get(pk=corpus.pk)
        names = [each.external_id for each in batch]
        last = corpus.articles.aggregate(last=Max("page_id"))["last"] or 0
        corpus.articles.filter(document__external_id__in=names).delete()
        pages = [
            _page(each, titles[each.external_id], last + number, targets)
            for number, each in enumerate(batch, start=1)
        ]
        ids = insert_pages(corpus.pk, [page for page, _ in pages])
        return Document.objects.bulk_create(
            _storable(
                Document(
                    corpus=corpus,
                    article_id=article_id,
                    external_id=each.external_id,
                    format=each.format,
                    file_name=each.file_name[:500],
                    sha256=each.sha256,
                    url=each.url,
                    licence=each.licence,
                    n_pages=each.text.n_pages,
                    n_characters=size(*(block.text for block in each.text.blocks)) - n_left_out,
                    left_out=_with_headings(each.text.left_out, n_left_out),
                )
            )
            for article_id, each, (_, n_left_out) in zip(ids, batch, pages, strict=True)
        )


def _storable(document: Document) -> Document:
    try:
        return storable(document)
    except NotStorable as error:
        raise DocumentError(f"{document.external_id[:80]}: {error}") from None


def _with_headings(left_out: Mapping[str, int], number: int) -> dict[str, int]:
    return {**left_out, "headings without text": number} if number else {**left_out}


def _page(
    found: FoundDocument, title: str, page_id: int, targets: Mapping[str, str]
) -> tuple[PageRecord, int]:
    """Return the article of a document, and the size of the headings that are not in it."""
    sections, paragraphs, pages, n_left_out = sections_of(found.text, found.title)
    record = PageRecord(
        title=title,
        page_id=page_id,
        kind=ARTICLE,
        redirect_target="",
        revision_id=0,
        timestamp="",
        is_list=False,
        sections=sections,
        paragraphs=[
            (section, kind, text, list(_links(links, found, title, targets)))
            for section, kind, text, links in paragraphs
        ],
        categories=[],
        pages=pages if found.text.n_pages else (),
    )
    return record, n_left_out


def _links(
    links: Sequence[Link], found: FoundDocument, title: str, targets: Mapping[str, str]
) -> Iterator[Link]:
    """Yield the links that lead to other documents of the corpus, by these documents' titles."""
    end_of_last = 0
    for start, end, target in sorted(links):
        leads_to = targets.get(target) or targets.get(_path(target, found.external_id), "")
        if leads_to and leads_to != title and start >= end_of_last:
            yield start, end, leads_to
            end_of_last = end


def _path(address: str, of: str) -> str:
    """Return the path that an address inside a file means, blank for one elsewhere."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme or parts.netloc or not parts.path:
        return ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(of), unquote(parts.path)))


def count_again(corpus: Corpus, *, is_licence_given: bool = False) -> None:
    """Set and save what follows from all documents: links, licence, totals, state."""
    resolve_links(corpus)
    documents = corpus.documents.all()
    named = set(documents.values_list("licence", flat=True))
    if not is_licence_given and (
        corpus.licence_name in ("", UNKNOWN, SEVERAL) or corpus.licence_name in named
    ):
        corpus.licence_name = (named.pop()[:LONGEST] or UNKNOWN) if len(named) == 1 else SEVERAL
    files = sorted(set(documents.values_list("file_name", flat=True)))
    more = [f"{len(files) - NAMED:,} more"] if files[NAMED:] else []
    corpus.source = "\n".join([*files[:NAMED], *more])
    articles = Article.objects.filter(corpus=corpus)
    kinds = dict(
        Paragraph.objects.filter(article__corpus=corpus)
        .order_by()
        .values_list("kind")
        .annotate(n=Count("pk"))
    )
    corpus.counts = {
        "documents": documents.count(),
        "formats": dict(documents.order_by("format").values_list("format").annotate(n=Count("pk"))),
        "pages": documents.aggregate(n=Sum("n_pages"))["n"] or 0,
        **_losses(corpus),
        "sections": articles.aggregate(n=Count("sections"))["n"],
        "paragraphs": kinds.get(ParagraphKind.PARAGRAPH, 0),
        "list_items": kinds.get(ParagraphKind.LIST_ITEM, 0),
        "paragraphs_linked_in_corpus": Paragraph.objects.filter(
            article__corpus=corpus, n_links_in_corpus__gt=0
        ).count(),
        # The indexes of before name paragraphs that are gone.
        **{key: n for key, n in corpus.counts.items() if key == "removed"},
    }
    corpus.state = CorpusState.READY
    corpus.save()


def _losses(corpus: Corpus) -> dict[str, Any]:
    """Return how many characters are stored and left out; nothing where one was not counted."""
    rows = corpus.documents.order_by().values_list("n_characters", "left_out")
    kept, left_out = 0, Counter[str]()
    for n_characters, of_document in rows.iterator():
        if n_characters is None:
            return {}
        kept += n_characters
        left_out.update(of_document)
    return {"characters": kept, "left_out": dict(sorted(left_out.items()))}
