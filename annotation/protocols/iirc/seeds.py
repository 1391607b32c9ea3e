"""Which paragraphs can be seeds: those with many links to distinct articles (IIRC 2.1)."""

import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from django.db.models import QuerySet
from django.db.models.functions import Length

from collector.code_points import CodePoints
from collector.models import Corpus, Paragraph
from collector.seeds.candidate import Candidate

if TYPE_CHECKING:
    from annotation.protocols.iirc.parameters import Parameters


def misfit(corpus: Corpus) -> str:
    """Return which corpora fit, unless this one has links."""
    if Paragraph.objects.filter(article__corpus=corpus, n_links__gt=0).exists():
        return ""
    return "It asks about paragraphs whose links lead to more, and this corpus has no link."


def candidates(corpus: Corpus, parameters: "Parameters", rng: random.Random) -> Iterator[Candidate]:
    """Yield every paragraph that can be a seed, in an order drawn by `rng`.

    A paragraph's place in the order depends on the corpus's text alone, never on row ids.
    """
    found = (
        _fitting(corpus, parameters)
        .order_by(CodePoints("article__title"), "position")
        .values_list("pk", "article__title", "position")
    )
    fitting = list(found.iterator())
    rng.shuffle(fitting)
    for pk, title, position in fitting:
        text = Paragraph.objects.values_list("text", flat=True).get(pk=pk)
        key = uuid5(NAMESPACE_URL, f"{corpus.site_name}\n{title}\n{position}\n{text}").hex
        yield Candidate(key=key, text=text, paragraphs=(pk,))


def counter(corpus: Corpus) -> Callable[["Parameters"], int]:
    """Return what counts the paragraphs that can be seeds."""
    return lambda parameters: _fitting(corpus, parameters).count()


def _fitting(corpus: Corpus, parameters: "Parameters") -> QuerySet[Paragraph]:
    rule = parameters.seeds
    return Paragraph.objects.annotate(n_characters=Length("text")).filter(
        article__corpus=corpus,
        article__kind="article",
        kind="paragraph",
        n_links__gte=rule.min_links,
        n_links_in_corpus__gte=rule.min_links_in_corpus,
        n_characters__gte=rule.min_characters,
        n_characters__lte=rule.max_characters,
    )
