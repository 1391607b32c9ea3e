"""Which paragraphs can be seeds: any that is long enough."""

import random
from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from collector.models import Corpus, Paragraph
from collector.seeds.candidate import Candidate


def candidates(corpus: Corpus, parameters: Any, rng: random.Random) -> Iterator[Candidate]:
    """Yield every paragraph that can be a seed, in an order drawn by `rng`."""
    rows = Paragraph.objects.filter(article__corpus=corpus, kind="paragraph")
    found = [
        (pk, title, text)
        for pk, title, text in rows.order_by("article__title", "position").values_list(
            "pk", "article__title", "text"
        )
        if len(text) >= parameters.seeds.min_characters
    ]
    rng.shuffle(found)
    for pk, title, text in found:
        yield Candidate(uuid5(NAMESPACE_URL, f"{title}\n{text}").hex, text, (pk,))
