"""Seeds whose texts are nearly the same, whatever their titles and documents, are in one fold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from collector.models import Collection, SeedParagraph
from collector.protocols.loading import Protocol
from collector.protocols.parameters import Parameters
from collector.retrieval.near_duplicates import NEARLY_THE_SAME, Groups, alike
from collector.seeds.candidate import GROUP, Candidate, text_key
from collector.seeds.seed_contracts import SEEDS


@dataclass(frozen=True)
class Placed:
    """A seed that has its fold: what it is about, and the group it shares its fold with.

    texts: as `Candidate.texts`.
    """

    texts: Sequence[str]
    group: object
    fold: str


def least_share(parameters: Parameters) -> float:
    """Return how much of their wording texts share that are taken for the same.

    That of the protocol's own seeds, where it says so.
    """
    seeds = getattr(parameters, "seeds", None)
    return float(getattr(seeds, "near_duplicate_share", NEARLY_THE_SAME))


def placed_seeds(collection: Collection, protocol: Protocol) -> Iterator[Placed]:
    """Yield the collection's seeds that have a fold, in the order in which they were chosen."""
    texts_of = protocol.part(SEEDS).texts_of
    rows = (
        SeedParagraph.objects.filter(seed__collection=collection)
        .exclude(seed__fold="")
        .order_by("seed__position", "seed_id", "position")
        .values_list("seed_id", "seed__fold", "seed__payload", "paragraph__text")
    )
    for (_, fold, payload), paragraphs in groupby(rows.iterator(), key=lambda row: row[:3]):
        yield Placed(texts_of([text for *_, text in paragraphs]), payload.get(GROUP), fold)


def joined(
    placed: Sequence[Placed], candidates: Sequence[Candidate], share: float
) -> tuple[list[Candidate], set[str]]:
    """Return the candidates as folds are planned for them, and the keys of those to leave out.

    What has a text that is nearly the same, or is of one group, has the text and the group of the
    first of them, so that a plan puts it into one fold. share: see `least_share`. What would join
    two splits, because seeds of both are nearly the same as it, is to be left out.
    """
    compared = [*(each.texts for each in placed), *(each.texts for each in candidates)]
    same = iter(alike((text for texts in compared for text in texts), share))
    # What others may have too of every seed: its group, or text, and its near copies.
    numbers: dict[object, int] = {}
    first: list[tuple[str, object]] = []
    folds: list[set[str]] = []

    def numbers_of(texts: Sequence[str], group: object) -> set[int]:
        found = set()
        for name in (text_key(str(group or texts[0])), *(next(same) for _ in texts)):
            if name not in numbers:
                numbers[name] = len(first)
                first.append((texts[0], group))
                folds.append(set())
            found.add(numbers[name])
        return found

    for seed in placed:
        for one in numbers_of(seed.texts, seed.group):
            folds[one].add(seed.fold)
    own = [numbers_of(each.texts, each.payload.get(GROUP)) for each in candidates]
    groups, apart = Groups(len(first)), set[str]()
    for candidate, things in zip(candidates, own, strict=True):
        one, *others = sorted({groups.of(each) for each in things})
        joined_folds = folds[one].union(*(folds[other] for other in others))
        if len(joined_folds) > 1:
            apart.add(candidate.key)
            continue
        for other in others:
            groups.unite(one, other)
        folds[one] = joined_folds
    called = [first[groups.of(min(things))] for things in own]
    return [
        replace(each, text=text, payload={**each.payload, GROUP: group} if group else each.payload)
        for each, (text, group) in zip(candidates, called, strict=True)
    ], apart
