"""The articles of a release: their text with its links, under which licence, and by whom."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from annotation.decisions.records import passage_record
from annotation.models import OfficialArticle
from annotation.records.articles import article_record, linked_articles
from annotation.records.schema import ArticleRecord, PassageRecord, SeedRecord
from annotation.records.withholding import CLOSED_NOTE, is_closed
from collector.ingest.licences import SEVERAL, UNKNOWN, contradictions, named
from collector.models import Article, Collection, Corpus, Paragraph
from collector.models.corpus import CorpusKind
from common.spreadsheet import csv_lines

PARAGRAPHS_AT_ONCE = 2000
FILE = "ATTRIBUTION.csv"
LICENCE_FILE = "LICENSE"
COLUMNS = ("title", "revision_id", "permalink", "used_as")
# Of a requester's own documents.
DOCUMENT_COLUMNS = ("title", "id", "url", "licence", "used_as")
Row = tuple[int | str, ...]


def linked_titles(seeds: Iterable[SeedRecord]) -> list[str]:
    """Return the titles that the seeds' passages link to, each once, sorted."""
    return sorted(
        {
            target
            for seed in seeds
            for passage in seed["passages"]
            for _, _, target in passage["links"]
        }
    )


def articles_of(collection: Collection, titles: Iterable[str]) -> Iterator[ArticleRecord]:
    """Yield what the links to `titles` show, in their order; a title without article is left out.

    A title that leads to an article through a redirect is an entry of its own, so that every
    link finds its text. Of published files all articles are yielded, as they were read.
    """
    if collection.corpus.kind == CorpusKind.IMPORTED:
        return _official(collection)
    found = linked_articles(collection.corpus, titles)
    return (article_record(title, article) for title, article in found)


def all_articles(collection: Collection) -> Iterator[ArticleRecord]:
    """Yield every article of the collection's corpus with its passages, in an order of content.

    Of published files all is yielded as it was read.
    """
    if collection.corpus.kind == CorpusKind.IMPORTED:
        yield from _official(collection)
        return
    paragraphs = (
        Paragraph.objects.filter(article__corpus=collection.corpus, article__kind="article")
        .select_related("article__corpus", "article__document", "section")
        .order_by("article__page_id", "position")
        .iterator(PARAGRAPHS_AT_ONCE)
    )
    for _, of_article in groupby(paragraphs, key=lambda paragraph: paragraph.article_id):
        passages = [passage_record(paragraph) for paragraph in of_article]
        yield {
            "title": passages[0]["title"],
            "text": "",
            "links": [],
            "imported": None,
            "passages": passages,
        }


def _official(collection: Collection) -> Iterator[ArticleRecord]:
    for row in OfficialArticle.objects.filter(collection=collection).iterator():
        yield {"title": row.title, "text": "", "links": [], "imported": row.content}


def licence_text(collection: Collection) -> str:
    """Return what may be done with the release, and where the licence's own words are."""
    corpus = collection.corpus
    if is_closed(corpus):
        return (
            f"{CLOSED_NOTE}\nThe ids of the documents are in {FILE}. Ask "
            f"{collection.requester_name} for the documents and for what you may do with "
            "the questions, answers and votes.\n"
        )
    source = corpus.site_name or corpus.name
    site = f", {corpus.base_url}" if corpus.base_url else ""
    told = (
        f"The id of each document, its address and its licence, where it has them, are in {FILE}.\n"
        "Text was taken out of its markup, without tables, notes, running heads and pictures;\n"
        "what more was changed in a file stands beside its name in README.md.\n"
        if corpus.kind == CorpusKind.DOCUMENTS
        else f"Their authors are named at the addresses in {FILE}, which also names the revision "
        "that\nwas read. Text was taken out of its markup; what more was changed in a file stands\n"
        "beside its name in README.md.\n"
    )
    of_texts, of_work = _terms(collection)
    return f"The texts in this folder are of {source}{site}.\n{of_texts}{told}\n{of_work}"


def _terms(collection: Collection) -> tuple[str, str]:
    """Return under which licence the texts are, and under which what workers have made."""
    corpus, made = collection.corpus, "The questions, answers, evidence and votes"
    if corpus.licence_name == SEVERAL:
        return (
            f"Each is under the licence that {FILE} names beside it; where that names none, ask\n"
            "its owner.\n",
            f"{made} of {collection.title!r} have no licence of their\nown: ask "
            f"{collection.requester_name}. Words of a document in them are under its licence.\n",
        )
    name = named(corpus.licence_name) or "a licence that the corpus does not name"
    address = f" ({corpus.licence_url})" if corpus.licence_url else ""
    if others := contradictions(corpus):
        return (
            f"They are under {name}{address},\nbut for documents beside which {FILE} names another "
            f"licence: {', '.join(others)}.\n",
            f"{made} of {collection.title!r} are under this\nlicence: {name}{address}. Words of a "
            "document in them are under its own.\n",
        )
    return (
        f"They are under {name}{address}.\n",
        f"{made} of {collection.title!r} are under the same\nlicence: {name}{address}.\n",
    )


def licences_of_documents(corpus: Corpus) -> list[str]:
    """Return the names of the licences that documents are under, sorted."""
    names = set(corpus.documents.values_list("licence", flat=True))
    return sorted(name or UNKNOWN for name in names)


def attributed(corpus: Corpus) -> str:
    """Return what the file of attributions holds, for the card."""
    if corpus.kind == CorpusKind.DOCUMENTS:
        return "every document used, with its id, address and licence"
    return "every article used, with the revision that was read"


def attribution_lines(
    corpus: Corpus, seeds: Iterable[SeedRecord], *, whole: bool = False
) -> Iterator[bytes]:
    """Yield the lines of a CSV of every article used, sorted by title.

    Used are the articles of all passages that were asked about, those that they link to, and those
    that a system reads to answer; with `whole` all others of the corpus too.
    """
    columns = DOCUMENT_COLUMNS if corpus.kind == CorpusKind.DOCUMENTS else COLUMNS
    used: dict[str, Row] = {}
    linked: set[str] = set()
    read: dict[str, Row] = {}
    for seed in seeds:
        for passage in seed["passages"] if seed["questions"] else ():
            used[passage["title"]] = _row(passage, "passage")
            linked.update(target for _, _, target in passage["links"])
        for question in seed["questions"]:
            for passage in chain(*question.get("contexts", {}).values()):
                read.setdefault(passage["title"], _row(passage, "context"))
    used = read | used
    for _, article in linked_articles(corpus, sorted(linked)):
        if article.title not in used:
            used[article.title] = _row_of(article, "linked article")
    rows = [used[title] for title in sorted(used)]
    if whole:
        known = {row[0] for row in rows}
        others = corpus.articles.filter(kind="article").select_related("corpus", "document")
        rows += [_row_of(each, "searched") for each in others.iterator() if each.title not in known]
        rows.sort(key=lambda row: str(row[0]))
    for line in csv_lines((columns, *rows), end="\n"):
        yield line.encode()


def _row_of(article: Article, used_as: str) -> Row:
    url = article.revision_url()
    if article.corpus.kind == CorpusKind.DOCUMENTS:
        document = article.document
        return article.title, document.external_id, url, document.licence, used_as
    return article.title, article.revision_id or "", url, used_as


def _row(passage: PassageRecord, used_as: str) -> Row:
    if "document" in passage:
        url, licence = passage.get("permalink", ""), passage.get("licence", "")
        return passage["title"], passage["document"], url, licence, used_as
    revision, address = passage.get("revision_id") or "", passage.get("permalink", "")
    return passage["title"], revision, address, used_as
