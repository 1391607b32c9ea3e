"""Which pairs of paragraphs are seeds: Algorithm 1, over the sets a person kept (HotpotQA 2)."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from collector.candidates.candidate_sets import Pair, Pools
from collector.models import Corpus, Paragraph
from collector.seeds.candidate import Candidate
from common.actions import ActionError

if TYPE_CHECKING:
    from annotation.protocols.hotpotqa.parameters import Parameters, SeedsTable

# Its pairs come from candidate sets: `candidates` gets the pools of the kept ones.
CURATED = True
BRIDGE, COMPARISON = "bridge", "comparison"
ANY, YES_NO, SPAN = "any", "yes_no", "span"
# After this number of repetitions in a row (almost) every pair has been used.
MAX_REDRAWS = 20_000
PAIRS_AT_ONCE = 200


@dataclass(frozen=True)
class Draw:
    """A pair of nodes: what workers are asked for, and the set or list it is from."""

    type: str
    form: str
    set: str
    pair: Pair


def misfit(corpus: Corpus) -> str:
    """Return which corpora fit, unless this one has links."""
    if Paragraph.objects.filter(article__corpus=corpus, n_links__gt=0).exists():
        return ""
    return "It asks about pairs of paragraphs that a link connects, and this corpus has no link."


def candidates(
    corpus: Corpus, parameters: "Parameters", rng: random.Random, pools: Pools
) -> Iterator[Candidate]:
    """Yield pairs as Algorithm 1 draws them, none twice, until hardly any are left.

    A pair depends on the corpus's text and the kept sets alone, never on row ids. Raises
    ActionError where one of the kinds has nothing to draw from.
    """
    _check(parameters.seeds, pools)
    drawn = draws(parameters.seeds, pools, rng, used=set())
    while some := list(islice(drawn, PAIRS_AT_ONCE)):
        yield from _candidates(corpus, some, pools)


def draws(
    rule: "SeedsTable", pools: Pools, rng: random.Random, used: set[Pair] | None = None
) -> Iterator[Draw]:
    """Yield the draws of Algorithm 1.

    With `used`, a pair that is in there is drawn again, of the same kind, and what is drawn is
    added: two paragraphs are one pair, whichever leads to the other and whatever is asked of them.
    It ends when that takes too long. Without, it is the paper's algorithm and never ends.
    """
    drawers = {BRIDGE: pools.bridge_drawer().draw, COMPARISON: pools.list_drawer().draw}
    while True:
        type = BRIDGE if rng.random() < rule.bridge_ratio else COMPARISON
        for _ in range(MAX_REDRAWS):
            name, pair = drawers[type](rng)
            if used is None or _unordered(pair) not in used:
                break
        else:
            return
        if used is not None:
            used.add(_unordered(pair))
        form = ANY
        if type == COMPARISON:
            form = YES_NO if rng.random() < rule.yes_no_ratio else SPAN
        yield Draw(type, form, name, pair)


def _unordered(pair: Pair) -> Pair:
    return min(pair), max(pair)


def _check(rule: "SeedsTable", pools: Pools) -> None:
    """Raise ActionError where a kind that is asked for has nothing to draw from."""
    if rule.bridge_ratio > 0 and not pools.bridges:
        raise ActionError(
            "No candidate set is kept, so no linked pair can be drawn. Look at the proposed sets "
            "on the page Candidate sets and keep some, import others with import_candidates, or "
            "set seeds.bridge_ratio to 0."
        )
    if rule.bridge_ratio < 1 and not pools.lists:
        raise ActionError(
            "No comparison list is kept, so no two pages can be compared. Keep one on the page "
            "Candidate sets, import one with import_candidates, or set seeds.bridge_ratio to 1."
        )


def _candidates(corpus: Corpus, drawn: Sequence[Draw], pools: Pools) -> Iterator[Candidate]:
    """Yield drawn pairs with their texts; one query."""
    ids = {node: int(pools.graph.paragraphs[node]) for draw in drawn for node in draw.pair}
    rows = Paragraph.objects.filter(pk__in=ids.values()).values_list("pk", "article__title", "text")
    texts = {pk: (title, text) for pk, title, text in rows}
    for draw in drawn:
        first, second = (ids[node] for node in draw.pair)
        ordered = draw.pair if draw.type == BRIDGE else _unordered(draw.pair)
        named = "\n".join(part for node in ordered for part in texts[ids[node]])
        yield Candidate(
            key=uuid5(NAMESPACE_URL, f"{corpus.site_name}\n{draw.type}\n{named}").hex,
            text=f"{texts[first][1]}\n{texts[second][1]}",
            paragraphs=(first, second),
            payload={"type": draw.type, "form": draw.form, "set": draw.set},
        )
