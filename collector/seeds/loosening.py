"""What the seeds' thresholds would give at other values: what to loosen when there are too few."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.seeds.parts import SEEDS

TABLE = "seeds"
# The part's function that counts, and from how many articles on its counting takes too long here.
COUNTS = "how_many"
MOST_ARTICLES = 20_000
# A least value becomes these shares of itself, a greatest one these multiples, where they differ.
LESS = (0.8, 0.5, 0.2, 0.0)
MORE = (1.5, 2.0, 4.0)


@dataclass(frozen=True)
class Loosened:
    """One threshold at another value: its dotted key, the value, and the seeds there would be."""

    key: str
    value: int
    n_seeds: int


def loosened(collection: Collection) -> list[Loosened]:
    """Return what other values of single thresholds would give, only where they give more.

    Nothing for a protocol that does not count its seeds, and for a corpus too large to count in
    while a person waits.
    """
    protocol = get_protocol(collection.protocol)
    if not protocol.has(SEEDS, COUNTS):
        return []
    part = protocol.part(SEEDS, COUNTS)
    corpus = collection.corpus
    if corpus.articles.all()[MOST_ARTICLES : MOST_ARTICLES + 1]:
        return []
    parameters: Any = parameters_of(collection)
    now = part.how_many(corpus, parameters)
    found: list[Loosened] = []
    for name, value in _values(parameters.seeds):
        table = parameters.seeds.model_copy(update={name: value})
        number = part.how_many(corpus, parameters.model_copy(update={TABLE: table}))
        if number > max([now, *(one.n_seeds for one in found if one.key == f"{TABLE}.{name}")]):
            found.append(Loosened(f"{TABLE}.{name}", value, number))
    return found


def _values(table: Any) -> Iterator[tuple[str, int]]:
    """Yield the looser values of each threshold, the nearest first, that its type allows."""
    for name, value in table.model_dump().items():
        if not isinstance(value, int) or not value or not name.startswith(("min_", "max_")):
            continue
        shares = LESS if name.startswith("min_") else MORE
        least = next((m.ge for m in type(table).model_fields[name].metadata if hasattr(m, "ge")), 0)
        tried = dict.fromkeys(max(least, round(value * share)) for share in shares)
        yield from ((name, one) for one in tried if one != value)
