"""Chooses the paragraphs to ask about: of suitable length, from as many articles as possible."""

import random
from collections.abc import Callable, Iterator
from itertools import groupby, islice, zip_longest
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from django.db.models import Count, QuerySet
from django.db.models.functions import Length

from collector.code_points import CodePoints
from collector.models import Corpus, Paragraph
from collector.seeds.candidate import GROUP, Candidate, text_key

if TYPE_CHECKING:
    from annotation.protocols.squad.parameters import Parameters

# Texts per query: callers often need few paragraphs, and a corpus can have millions.
TEXTS_AT_ONCE = 100


def candidates(corpus: Corpus, parameters: "Parameters", rng: random.Random) -> Iterator[Candidate]:
    """Yield paragraphs that can be asked about: one of each article before a second of any.

    Articles, and the paragraphs of each, are in an order drawn by `rng`, which depends on the
    corpus's text alone, never on row ids. Of paragraphs with equal text only the first is yielded:
    in two articles they could be in two splits.
    """
    fitting = (
        _fitting(corpus, parameters)
        .order_by(CodePoints("article__title"), "article_id", "position")
        .values_list("article_id", "article__title", "pk", "position")
    )
    articles = [list(rows) for _, rows in groupby(fitting.iterator(), key=lambda row: row[:2])]
    rng.shuffle(articles)
    for rows in articles:
        rng.shuffle(rows)
    turns = zip_longest(*(rows[: parameters.seeds.max_per_article] for rows in articles))
    drawn = (row for turn in turns for row in turn if row is not None)
    seen: set[str] = set()
    while some := list(islice(drawn, TEXTS_AT_ONCE)):
        texts = Paragraph.objects.in_bulk([pk for *_, pk, _ in some])
        for article, title, pk, position in some:
            text = texts[pk].text
            if (key := text_key(text)) not in seen:
                seen.add(key)
                name = f"{corpus.site_name}\n{title}\n{position}\n{text}"
                key, group = uuid5(NAMESPACE_URL, name).hex, {GROUP: title}
                yield Candidate(key, text, (pk,), group, (article,))


def counter(corpus: Corpus) -> Callable[["Parameters"], int]:
    """Return a function that counts the paragraphs that can be asked about."""

    def count(parameters: "Parameters") -> int:
        most = parameters.seeds.max_per_article
        rows = _fitting(corpus, parameters).values("article_id").annotate(n=Count("pk")).order_by()
        return sum(min(most, row["n"]) for row in rows)

    return count


def _fitting(corpus: Corpus, parameters: "Parameters") -> QuerySet[Paragraph]:
    rule = parameters.seeds
    return Paragraph.objects.annotate(n_characters=Length("text")).filter(
        article__corpus=corpus,
        article__kind="article",
        kind="paragraph",
        n_characters__gte=rule.min_characters,
        n_characters__lte=rule.max_characters,
    )
