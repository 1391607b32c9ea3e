"""What the seeds' thresholds would give at other values: what to loosen when there are too few."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from collector.models import Collection, Corpus
from collector.models.corpus import CorpusKind
from collector.protocols.creation import parameters_of
from collector.protocols.loading import Protocol, get_protocol
from collector.seeds.candidate import SEEDS

TABLE = "seeds"
# What of the part makes what counts.
COUNTS = "counter"
# From how many articles on counting takes too long here, and of all that nothing leaves out.
MOST_ARTICLES, MOST_OF_ALL = 20_000, 5_000
# A least value becomes these shares of itself, a greatest one these multiples, where they differ.
LESS = (0.8, 0.5, 0.2, 0.1, 0.05, 0.02, 0.0)
MORE = (1.5, 2.0, 4.0)
# The length that documents of short paragraphs need, and the share of them that is too few.
LENGTH, TOO_FEW, ENOUGH = "min_characters", 0.1, 0.5


@dataclass(frozen=True)
class FittingLength:
    """The least length of a seed's paragraph that fits documents, where the usual one does not.

    n_usual, n_seeds: how many seeds the usual one gives, and this one.
    """

    usual: int
    value: int
    n_usual: int
    n_seeds: int

    @property
    def overrides(self) -> dict[str, object]:
        """Return what a collection is created with."""
        return {f"{TABLE}.{LENGTH}": self.value}

    def __str__(self) -> str:
        return (
            f"The documents have short paragraphs: with {self.usual:,} characters or more, as the "
            f"protocol has it, there would be {self.n_usual:,} seeds. Here {self.value:,} are "
            f"enough, which gives {self.n_seeds:,}. Change it in the settings of the draft."
        )


@dataclass(frozen=True)
class LooserThreshold:
    """One threshold at another value: its dotted key, the value, and the seeds there would be."""

    key: str
    value: Any
    n_seeds: int


@dataclass(frozen=True)
class LooserThresholds:
    """`single`: other values of single thresholds, only where they give more than now.

    `together`: where none of them gives enough, values that do it together, the seeds being those
    of this one with all before it; fewer than enough if nothing gives more.
    """

    single: list[LooserThreshold]
    together: list[LooserThreshold]


def find_looser(collection: Collection, needed: int) -> LooserThresholds:
    """Return what other values of the thresholds would give to whoever needs so many seeds.

    Nothing for a protocol that does not count its seeds, and for a corpus too large to count in
    while a person waits.
    """
    protocol = get_protocol(collection.protocol)
    articles = collection.corpus.articles.all()
    if not protocol.has(SEEDS, COUNTS) or articles[MOST_ARTICLES : MOST_ARTICLES + 1]:
        return LooserThresholds([], [])
    part = protocol.part(SEEDS, COUNTS)
    parameters: Any = parameters_of(collection)
    how_many = part.counter(collection.corpus)
    if how_many is None:
        return LooserThresholds([], [])
    known: dict[str, int] = {}

    def counted(changes: dict[str, Any]) -> int:
        if (key := repr(sorted(changes.items()))) not in known:
            table = parameters.seeds.model_copy(update=changes)
            known[key] = how_many(parameters.model_copy(update={TABLE: table}))
        return known[key]

    table = parameters.seeds.model_dump()
    listed = {} if articles[MOST_OF_ALL : MOST_OF_ALL + 1] else part.LOOSEST
    wider = {name: value for name, value in listed.items() if table[name] != value}
    single, now = list[LooserThreshold](), counted({})
    for name, value in [*_values(parameters.seeds), *wider.items()]:
        most = max([now, *(one.n_seeds for one in single if one.key == f"{TABLE}.{name}")])
        # What is enough need not be loosened further.
        if now < needed <= most:
            continue
        number = counted({name: value})
        if number > most:
            single.append(LooserThreshold(f"{TABLE}.{name}", value, number))
    if now >= needed or any(one.n_seeds >= needed for one in single):
        return LooserThresholds(single, [])
    loosest = wider | dict(_values(parameters.seeds))
    changes: dict[str, Any] = {}
    for name in (name for name in table if name in loosest):
        changes[name] = loosest[name]
        if (number := counted(changes)) >= needed:
            break
    enough = min(needed, number) if changes else needed
    for name in list(changes):
        fewer = {key: value for key, value in changes.items() if key != name}
        if counted(fewer) >= enough:
            changes = fewer
    names = list(changes)
    return LooserThresholds(
        single,
        [
            LooserThreshold(
                f"{TABLE}.{name}",
                changes[name],
                counted({key: changes[key] for key in names[: at + 1]}),
            )
            for at, name in enumerate(names)
        ],
    )


def fitting_length(protocol: Protocol, corpus: Corpus) -> FittingLength | None:
    """Return a lower least length where a protocol's own leaves nearly no paragraph of documents.

    It is the highest of LESS that gives half of the seeds that the least length gives.
    """
    seeds = getattr(protocol.parameters(), TABLE, None)
    usual = getattr(seeds, LENGTH, 0)
    if corpus.kind != CorpusKind.DOCUMENTS or not usual or not protocol.has(SEEDS, COUNTS):
        return None
    how_many = protocol.part(SEEDS, COUNTS).counter(corpus)
    if how_many is None:
        return None

    def counted(least: int) -> int:
        return how_many(protocol.parameters({f"{TABLE}.{LENGTH}": least}))

    # Most documents have paragraphs that are long enough: of them no other length is counted.
    n_usual, most = counted(usual), counted(1)
    if n_usual >= TOO_FEW * most:
        return None
    values = [max(1, round(usual * share)) for share in LESS]
    value, n_seeds = next((value, n) for value in values if (n := counted(value)) >= ENOUGH * most)
    return FittingLength(usual, value, n_usual, n_seeds)


def _values(table: Any) -> Iterator[tuple[str, int]]:
    """Yield the looser values of each threshold, the nearest first, that its type allows."""
    for name, value in table.model_dump().items():
        if not isinstance(value, int) or not value or not name.startswith(("min_", "max_")):
            continue
        shares = LESS if name.startswith("min_") else MORE
        least = next((m.ge for m in type(table).model_fields[name].metadata if hasattr(m, "ge")), 0)
        tried = dict.fromkeys(max(least, round(value * share)) for share in shares)
        yield from ((name, one) for one in tried if one != value)
