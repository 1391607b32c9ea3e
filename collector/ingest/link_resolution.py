"""Follows links and redirects inside a corpus, and counts the links that lead somewhere."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from django.db import transaction

from collector.graph.graph_builder import MAX_HOPS
from collector.models.corpus import Article, ArticleKind, Corpus, Paragraph

PARAGRAPHS_PER_BATCH = 5000
TITLES_PER_QUERY = 5000
CACHE_SIZE = 500_000


class Resolver:
    """Finds the articles of one corpus that titles lead to; remembers a bounded number."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[str, tuple[int, str, str] | None] = {}

    def resolve(self, titles: Iterable[str]) -> dict[str, int]:
        """Return title → id of the article it leads to, through redirects.

        Titles that lead to no article of the corpus, or to a list of meanings, are left out.
        """
        if len(self._known) > CACHE_SIZE:
            self._known.clear()
        leads = {title: title for title in titles}
        found: dict[str, int] = {}
        for _ in range(MAX_HOPS):
            self._look_up(leads.values())
            onward = {}
            for title, current in leads.items():
                row = self._known[current]
                if row is None:
                    continue
                article_id, kind, target = row
                if kind == ArticleKind.ARTICLE:
                    found[title] = article_id
                elif kind == ArticleKind.REDIRECT:
                    onward[title] = target
            leads = onward
            if not leads:
                break
        return found

    def _look_up(self, titles: Iterable[str]) -> None:
        unknown = sorted({title for title in titles if title not in self._known})
        for start in range(0, len(unknown), TITLES_PER_QUERY):
            part = unknown[start : start + TITLES_PER_QUERY]
            self._known.update(dict.fromkeys(part))
            rows = Article.objects.filter(corpus=self._corpus, title__in=part).values_list(
                "title", "id", "kind", "redirect_target"
            )
            self._known.update({title: (pk, kind, target) for title, pk, kind, target in rows})


def resolve_links(corpus: Corpus, report: Callable[[int], None] = lambda done: None) -> int:
    """Set `n_links_in_corpus` of all paragraphs of `corpus`; return how many were changed.

    May be repeated and interrupted at any place; `report` is told the paragraphs done so far.
    Memory does not grow with the corpus.
    """
    resolver = Resolver(corpus)
    # In the order of ids, so that every batch is one short walk along the primary key.
    of_corpus = Paragraph.objects.filter(article__corpus=corpus).order_by("id")
    changed = done = last = 0
    while True:
        rows = list(
            of_corpus.filter(id__gt=last).values_list(
                "id", "article_id", "links", "n_links_in_corpus"
            )[:PARAGRAPHS_PER_BATCH]
        )
        if not rows:
            return changed
        last = rows[-1][0]
        ids = resolver.resolve({target for row in rows for _, _, target in row[2]})
        by_number: dict[int, list[int]] = defaultdict(list)
        for pk, article_id, links, before in rows:
            reached = {ids[target] for _, _, target in links if target in ids} - {article_id}
            if len(reached) != before:
                by_number[len(reached)].append(pk)
        with transaction.atomic():
            for number, pks in by_number.items():
                Paragraph.objects.filter(id__in=pks).update(n_links_in_corpus=number)
        changed += sum(len(pks) for pks in by_number.values())
        done += len(rows)
        report(done)
