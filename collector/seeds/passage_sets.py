"""The sets of passages that a corpus offers as seeds."""

import random
import shutil
import tempfile
import weakref
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from django.db.models.functions import Length

from collector.array_files import Columns, numpy
from collector.models import Corpus, Paragraph, Section
from collector.models.corpus import ArticleKind, CorpusKind, ParagraphKind
from collector.retrieval.passages import PassageIndex, build_passages, passages_of
from collector.retrieval.terms import Signatures, terms
from collector.seeds.candidate import GROUP, Candidate, Offered, step
from collector.seeds.passage_drawing import (
    CAPITAL,
    DocumentNames,
    Drawn,
    PassageSetsTable,
    Surveyed,
    TermColumns,
    TermReader,
    connections,
    draw,
)

TEXTS_AT_ONCE = 500


class Passage(NamedTuple):
    """A passage, its document by number, what stands under one heading with it, and its links.

    `linked`: other documents by number.
    """

    document: int
    tree: int
    text: str
    linked: Sequence[int] = ()


class Reading:
    """What was read of passages, to be looked at by several rules; it is gone with its object."""

    def __init__(self, passages: Iterable[Passage], names: Sequence[Sequence[str]]) -> None:
        """Read the passages, which come in the order of their documents.

        names: of each document, by which others may name it.
        """
        self._reader, self._signatures = TermReader(), Signatures()
        self._cited = DocumentNames(self._reader, enumerate(names))
        self._documents: list[int] = []
        self._trees: list[int] = []
        self._folder = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        waiting: list[Any] = []
        with Columns(self._folder) as columns:
            postings = TermColumns(columns)
            for number, passage in enumerate(passages):
                numbers = self._reader.read(passage.text)
                postings.add(number, numbers)
                parts = [[each & ~CAPITAL for each in part] for part in numbers]
                self._cited.read(number, passage.document, parts)
                for document in passage.linked:
                    if document != passage.document:
                        self._cited.linked(number, document)
                waiting.append(numpy.array([each for part in parts for each in part], "<u8"))
                if len(waiting) == TEXTS_AT_ONCE:
                    self._signatures.add(waiting)
                    waiting = []
                self._documents.append(passage.document)
                self._trees.append(passage.tree)
            self._signatures.add(waiting)
            postings.flush()

    def surveyed(self, table: PassageSetsTable) -> Surveyed:
        """Return what connects the passages by some rules."""
        same = self._signatures.groups(table.near_duplicate_share)
        weights = self._reader.weights()
        found = connections(
            self._folder,
            numpy.array(self._documents, "<i8"),
            weights,
            table.max_documents_with_term,
            same,
        )
        citations = self._cited.citations(weights)
        return Surveyed(self._documents, self._trees, same, found, citations)


def survey(
    passages: Iterable[Passage], names: Sequence[Sequence[str]], table: PassageSetsTable
) -> Surveyed:
    """Return what connects the passages by some rules; see `Reading`."""
    return Reading(passages, names).surveyed(table)


RULE, SHARED, DOCUMENTS = "rule", "shared", "documents"
SETS_AT_ONCE = 200
# Counting goes through all of them a dozen times: some seconds.
MOST_COUNTED = 2_000
# So many of the words that connect passages are told, of those that so few passages have.
MOST_SHARED, MOST_WITH_WORD, MOST_SHARE_WITH_WORD = 5, 50, 0.02
SIGNS = "\"'“”‘’«».,;:!?()[]。、，！？؟،؛।"


@dataclass(frozen=True)
class _Document:
    """A document by its row, with the names that others may know it by."""

    article: int
    title: str
    names: tuple[str, ...]


def passage_sets(
    corpus: Corpus, table: PassageSetsTable, rng: random.Random, folds: Mapping[int, str]
) -> Offered:
    """Return the sets of passages that `table` asks for, in the order drawn.

    folds: of the articles that have one, by id; none of two folds are connected.
    They depend on the corpus's text alone, never on row ids. The payload has the rule, the words
    that connect them, how many documents they are drawn from, and the GROUP of documents that must
    be in one split. Builds the index of the corpus's paragraphs. Raises RetrievalError.
    """
    build_passages(corpus)
    documents = _documents(corpus)
    rows: list[int] = []
    surveyed = survey(
        _passages(corpus, table, documents, rows), [each.names for each in documents], table
    )
    drawn = draw(surveyed, table, rng, [folds.get(each.article, "") for each in documents])
    sets = drawn.sets
    index = passages_of(corpus)
    together: dict[int, list[int]] = defaultdict(list)
    for group, document in zip(drawn.groups, documents, strict=False):
        together[group].append(document.article)
    found = (
        candidate
        for start in range(0, len(sets), SETS_AT_ONCE)
        for candidate in _candidates(
            corpus, index, sets[start : start + SETS_AT_ONCE], rows, documents, together
        )
    )
    n_passages = len(rows)
    fitting = f"of {table.min_characters:,} to {table.max_characters:,} characters"
    steps = [step("passage", fitting, n_passages)]
    left_out = (
        (drawn.n_doubles, "nearly the same as another"),
        (drawn.n_common, "found in too many documents"),
        (drawn.n_between, "found in documents of two splits"),
    )
    for number, why in left_out:
        if number:
            n_passages -= number
            steps.append(step("passage", f"after leaving out {number:,} {why}", n_passages))
    return Offered(found, tuple(steps))


def set_counter(corpus: Corpus) -> Callable[[PassageSetsTable], int] | None:
    """Return what tells how many sets `table` would ask for, about: which are drawn is by chance.

    None for a corpus with too many passages to count in while a person waits.
    """
    paragraphs = Paragraph.objects.filter(
        article__corpus=corpus, article__kind=ArticleKind.ARTICLE, kind=ParagraphKind.PARAGRAPH
    )
    if paragraphs[MOST_COUNTED : MOST_COUNTED + 1]:
        return None
    lengths = sorted(paragraphs.values_list(Length("text"), flat=True))
    documents = _documents(corpus)
    readings: dict[tuple[int, int], Reading] = {}
    counts: dict[tuple[int, int, str], int] = {}

    def count(table: PassageSetsTable) -> int:
        # Between some bounds are the same passages as between others.
        bounds = (
            bisect_left(lengths, table.min_characters),
            bisect_right(lengths, table.max_characters),
        )
        if bounds not in readings:
            found = _passages(corpus, table, documents, [])
            readings[bounds] = Reading(found, [each.names for each in documents])
        key = (*bounds, table.model_dump_json(exclude={"min_characters", "max_characters"}))
        if key not in counts:
            surveyed = readings[bounds].surveyed(table)
            counts[key] = len(draw(surveyed, table, random.Random(0)).sets)
        return counts[key]

    return count


def _documents(corpus: Corpus) -> list[_Document]:
    """Return the documents by number, in an order that no database decides."""
    articles = corpus.articles.filter(kind=ArticleKind.ARTICLE).order_by("page_id")
    if corpus.kind != CorpusKind.DOCUMENTS:
        rows = articles.values_list("pk", "title")
        return [_Document(pk, title, (title,)) for pk, title in rows.iterator()]
    found = articles.values_list("pk", "title", "document__external_id")
    return [
        # An id is a name where nobody takes it for a word: HR-12.
        _Document(pk, title, (title, own) if any(map(str.isdigit, own)) else (title,))
        for pk, title, own in found.iterator()
    ]


def _passages(
    corpus: Corpus, table: PassageSetsTable, documents: Sequence[_Document], rows: list[int]
) -> Iterator[Passage]:
    """Yield what can be drawn, document by document, and note each one's row in `rows`."""
    numbers = {each.article: number for number, each in enumerate(documents)}
    by_title = {each.title: number for number, each in enumerate(documents)}
    trees = _trees(corpus)
    found = (
        Paragraph.objects.annotate(n_characters=Length("text"))
        .filter(
            article__corpus=corpus,
            article__kind=ArticleKind.ARTICLE,
            kind=ParagraphKind.PARAGRAPH,
            n_characters__gte=table.min_characters,
            n_characters__lte=table.max_characters,
        )
        .order_by("article__page_id", "position")
        .values_list("pk", "article_id", "section_id", "text", "links")
    )
    for pk, article, section, text, links in found.iterator(chunk_size=2000):
        linked = {by_title[target] for _, _, target in links if target in by_title}
        rows.append(pk)
        yield Passage(numbers[article], trees[section], text, sorted(linked))


def _trees(corpus: Corpus) -> dict[int, int]:
    """Return of each section the one that its tree is called by.

    A tree is a heading of the highest rank that a document has several of, with all below it.
    """
    sections = (
        Section.objects.filter(article__corpus=corpus)
        .order_by("article_id", "position")
        .values_list("article_id", "pk", "level")
    )
    found: dict[int, int] = {}
    for _, of_article in groupby(sections.iterator(), key=lambda row: row[0]):
        ranked = [(pk, level) for _, pk, level in of_article]
        levels = [level for _, level in ranked if level]
        several = [level for level in set(levels) if levels.count(level) > 1]
        top, current = min(several, default=0), 0
        for pk, level in ranked:
            if not current or 0 < level <= top:
                current = pk
            found[pk] = current
    return found


def _candidates(
    corpus: Corpus,
    index: PassageIndex,
    drawn: Sequence[Drawn],
    rows: Sequence[int],
    documents: Sequence[_Document],
    together: Mapping[int, Sequence[int]],
) -> Iterator[Candidate]:
    """Yield drawn sets with their texts; one query."""
    wanted = [rows[passage] for each in drawn for passage in each.passages]
    fields = ("pk", "article__title", "position", "text")
    found = Paragraph.objects.filter(pk__in=wanted).values_list(*fields)
    known = {pk: (title, position, text) for pk, title, position, text in found}
    for each in drawn:
        paragraphs = tuple(rows[passage] for passage in each.passages)
        texts = [known[pk][2] for pk in paragraphs]
        named = "\n".join(
            f"{title}\n{at}\n{text}" for title, at, text in map(known.__getitem__, paragraphs)
        )
        yield Candidate(
            key=uuid5(NAMESPACE_URL, f"{corpus.site_name}\n{each.rule}\n{named}").hex,
            text="\n".join(texts),
            paragraphs=paragraphs,
            payload={
                RULE: each.rule,
                SHARED: shared_words(texts, index),
                DOCUMENTS: len(documents),
                GROUP: documents[each.group].title,
            },
            together=tuple(together[each.group]),
        )


def shared_words(texts: Sequence[str], index: PassageIndex) -> list[str]:
    """Return the rarest words that the first text has in common with the others, as it writes them.

    Words that stand side by side, without a sign between them, are one.
    """
    if len(texts) < 2:
        return []
    others = set.intersection(*(set(terms(text)) for text in texts[1:]))
    most = max(MOST_WITH_WORD, int(MOST_SHARE_WITH_WORD * index.n_texts))
    runs: dict[str, int] = {}
    words: list[tuple[int, str]] = []
    for token in [*texts[0].split(), ""]:
        of_token = terms(token)
        known = of_token and others.issuperset(of_token)
        n_with = max((index.n_with(term) for term in of_token), default=0) if known else 0
        if 0 < n_with <= most:
            words.append((n_with, token.strip(SIGNS)))
        if words and (not 0 < n_with <= most or token[-1] in SIGNS):
            runs.setdefault(" ".join(word for _, word in words), min(words)[0])
            words = []
    return sorted(runs, key=lambda run: (runs[run], run))[:MOST_SHARED]
