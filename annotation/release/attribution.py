"""Who wrote the text that a release holds: its licence, and every article with its revision."""

from collections.abc import Iterable, Iterator
from itertools import chain

from annotation.release.articles import reached
from annotation.release.records_schema import PassageRecord, SeedRecord
from collector.models import Collection, Corpus
from common.spreadsheet import csv_lines

FILE = "ATTRIBUTION.csv"
LICENCE_FILE = "LICENSE"
COLUMNS = ("title", "revision_id", "permalink", "used_as")
Row = tuple[str, int | str, str, str]


def licence_text(collection: Collection) -> str:
    """Return what may be done with the release, and where the licence's own words are."""
    corpus = collection.corpus
    name = corpus.licence_name or "a licence that the corpus does not name"
    address = f" ({corpus.licence_url})" if corpus.licence_url else ""
    source = corpus.site_name or corpus.name
    site = f", {corpus.base_url}" if corpus.base_url else ""
    return (
        f"The passages and articles in this folder are text of {source}{site}.\n"
        f"They are under {name}{address}.\n"
        f"Their authors are named at the addresses in {FILE}, which also names the revision that\n"
        "was read. Text was taken out of its markup. In the linked articles a literal\n"
        "less-than sign is written as its full-width form; nothing else was changed.\n\n"
        f"The questions, answers, evidence and votes of {collection.title!r} are under the same\n"
        f"licence: {name}{address}.\n"
    )


def attribution_lines(corpus: Corpus, seeds: Iterable[SeedRecord]) -> Iterator[bytes]:
    """Yield the lines of a CSV of every article used, sorted by title.

    Used are the articles of all passages that were asked about, those that they link to, and those
    that a system reads to answer.
    """
    for line in csv_lines((COLUMNS, *_rows(corpus, seeds)), end="\n"):
        yield line.encode()


def _rows(corpus: Corpus, seeds: Iterable[SeedRecord]) -> list[Row]:
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
    for _, article in reached(corpus, sorted(linked)):
        if article.title not in used:
            used[article.title] = (
                article.title,
                article.revision_id or "",
                article.revision_url(),
                "linked article",
            )
    return [used[title] for title in sorted(used)]


def _row(passage: PassageRecord, used_as: str) -> Row:
    revision, address = passage.get("revision_id") or "", passage.get("permalink", "")
    return passage["title"], revision, address, used_as
