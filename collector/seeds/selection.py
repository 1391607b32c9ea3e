"""Chooses a collection's seeds by its protocol's rules, and says what to loosen for more."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from collector.candidates.candidate_sets import CandidatesError, pools_of, propose_defaults
from collector.graph.graph_file import GraphError
from collector.ingest.licences import licence_cautions
from collector.models import Collection, CollectionState, Corpus, Seed, SeedParagraph
from collector.models.corpus import CorpusKind
from collector.protocols.creation import parameters_of
from collector.protocols.loading import Protocol, ProtocolError, all_protocols, get_protocol
from collector.protocols.parameters import FOLDS, Parameters, language_limits
from collector.retrieval.terms import NEARLY_THE_SAME, Groups, alike
from collector.seeds.candidate import (
    CURATED_SEEDS,
    GROUP,
    SEEDS,
    SPLITS,
    Candidate,
    Offered,
    text_key,
)
from common.actions import ActionError
from common.sent_form import FIELD, check_seen


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


# What the part of a protocol has whose seeds connect articles.
BESIDE = "candidates_beside"


def select_seeds(
    collection: Collection,
    count: int,
    tell: Callable[[str, int], object] = lambda what, left: None,
    seen: str | None = None,
) -> dict[str, int]:
    """Choose `count` more seeds for the main task, after those that qualification needs.

    The choice follows from the collection's seed and the corpus alone: 10 and then 20 more are the
    same seeds as 30 at once, unless the corpus has grown between, or a text is nearly the same as
    seeds of two splits. A fold, once planned, is never changed. Returns the new seeds of the main
    task per fold, under "" where the protocol splits later. `tell` hears what each filter left;
    `seen` is how many seeds there were when more were asked for, None asks no such thing. Raises
    ActionError when the corpus has too few or others were chosen since, and then chooses none.
    """
    if is_curated(collection):
        propose_sets(collection)
    with transaction.atomic():
        # The parameters may have been changed since the collection was read.
        collection = Collection.objects.select_for_update().get(pk=collection.pk)
        if seen is not None:
            check_seen({FIELD: seen}, str(collection.seeds.count()))
        parameters = parameters_of(collection)
        taken = set(collection.seeds.values_list("key", flat=True))
        taken |= set(collection.dropped_seeds.values_list("key", flat=True))
        wanted = _wanted(collection, parameters, count)
        found = candidates_of(collection, parameters)
        for what, left in found.steps if isinstance(found, Offered) else ():
            tell(what, left)
        offered = _beside_earlier(collection, found)
        number = sum(wanted.values())
        protocol = get_protocol(collection.protocol)
        placed = list(placed_seeds(collection, protocol))
        by_key: dict[str, Candidate] = {}
        apart = set[str]()
        while len(by_key) < number:
            candidate = next(offered, None)
            if candidate is None:
                raise ActionError(
                    f"The corpus offers {len(by_key):,}{' more' if taken else ''} "
                    f"seed{'' if len(by_key) == 1 else 's'}, {number:,} are needed"
                    f"{_of_what(wanted, parameters)}. Ask for fewer, or loosen what the parameters "
                    "ask of a seed."
                )
            if candidate.key not in taken | apart:
                by_key.setdefault(candidate.key, candidate)
            if placed and len(by_key) == number:
                # What is nearly the same as seeds of two splits would join them.
                _, joining = joined(placed, list(by_key.values()), least_share(parameters))
                apart |= joining
                by_key = {key: each for key, each in by_key.items() if key not in joining}
        chosen = list(by_key.values())
        first = (collection.seeds.aggregate(last=Max("position"))["last"] or 0) + 1
        stages = _in_turn(wanted, parameters)
        return store_candidates(collection, parameters, chosen, stages, first)


def n_needed(collection: Collection, count: int) -> int:
    """Return how many seeds a corpus must offer for `count` more, those chosen before included."""
    wanted = _wanted(collection, parameters_of(collection), count)
    return collection.seeds.count() + sum(wanted.values())


def stages_from_seeds(parameters: Parameters) -> list[str]:
    """Return the names of the stages that each get as many seeds as are asked for, in order."""
    return [
        name
        for name, table in parameters.stages().items()
        if table.items_from == "seeds" and not table.qualifies
    ]


def cautions_of(collection: Collection) -> list[str]:
    """Return what disappoints of parameters, language, texts and the seeds chosen so far.

    A sentence each.
    """
    parameters = parameters_of(collection)
    return [
        *parameters.cautions(),
        *language_limits(parameters, collection.corpus.language),
        *licence_cautions(collection.corpus),
        *empty_splits(collection, parameters),
    ]


def empty_splits(collection: Collection, parameters: Parameters) -> list[str]:
    """Return a sentence where seeds have their splits and a split that has a share got none."""
    have = set(collection.seeds.exclude(fold="").values_list("fold", flat=True).distinct())
    empty = [fold for fold in FOLDS if getattr(parameters.splits, fold, 0) and fold not in have]
    if not have or not empty:
        return []
    few = " and ".join(empty)
    return [f"No seed is in {few}: with these seeds alone {few} will be empty. Choose more seeds."]


def noun_of(collection: Collection) -> str:
    """Return what one seed of the collection's protocol is: a paragraph, unless it says else."""
    return get_protocol(collection.protocol).part(SEEDS).NOUN


def is_curated(collection: Collection) -> bool:
    """Return whether the protocol draws its seeds from candidate sets that a person keeps.

    Its `candidates` then has a fourth argument, the Pools of the kept sets.
    """
    return get_protocol(collection.protocol).part(SEEDS).CURATED


def propose_sets(collection: Collection) -> None:
    """Propose sets where there are none: they stay, also when nothing can be chosen yet.

    Raises ActionError.
    """
    if collection.state != CollectionState.DRAFT:
        return
    parameters: Any = parameters_of(collection)
    try:
        propose_defaults(collection, parameters.seeds, timezone.now())
    except (CandidatesError, GraphError) as error:
        raise ActionError(str(error)) from None


def misfit_of(protocol: Protocol, corpus: Corpus) -> str:
    """Return which corpora fit the protocol, where this one offers it no seed; else "".

    Of own documents also which protocols are meant for them.
    """
    told = protocol.part(SEEDS).misfit(corpus)
    if not told or corpus.kind != CorpusKind.DOCUMENTS:
        return told
    fitting = [one.parameters().protocol.title for one in all_protocols() if is_for_documents(one)]
    return f"{told} For documents there is: {'; '.join(fitting)}." if fitting else told


def is_for_documents(protocol: Protocol) -> bool:
    """Return whether the protocol, if its folder is in order, is meant for own documents."""
    try:
        return bool(protocol.parameters()) and protocol.part(SEEDS).FOR_DOCUMENTS
    except ProtocolError:
        return False


def candidates_of(collection: Collection, parameters: Parameters) -> Iterable[Candidate]:
    """Return what the protocol offers, by the collection's own random seed; raises ActionError."""
    protocol = get_protocol(collection.protocol)
    if told := misfit_of(protocol, collection.corpus):
        raise ActionError(f"The corpus {collection.corpus} offers no seed. {told}")
    rng = random.Random(f"{collection.random_seed}:seeds")
    if protocol.has(SEEDS, BESIDE):
        placed = SeedParagraph.objects.filter(seed__collection=collection).exclude(seed__fold="")
        folds = dict(placed.values_list("paragraph__article_id", "seed__fold"))
        beside = protocol.part(SEEDS, BESIDE).candidates_beside
        return beside(collection.corpus, parameters, rng, folds)
    if not is_curated(collection):
        return protocol.part(SEEDS).candidates(collection.corpus, parameters, rng)
    try:
        pools = pools_of(collection)
    except GraphError as error:
        raise ActionError(str(error)) from None
    return protocol.part(CURATED_SEEDS).candidates(collection.corpus, parameters, rng, pools)


def _beside_earlier(collection: Collection, offered: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield what may come to the seeds chosen before, also of a corpus that has grown since.

    Of a protocol with groups nothing is shown twice, and a group keeps the split of the documents
    that have one. What new documents connect with two splits is left out: it would join them.
    """
    paragraphs, texts = set[int](), set[str]()
    placed: dict[int, tuple[str, object]] = {}
    rows = SeedParagraph.objects.filter(seed__collection=collection).values_list(
        "paragraph_id",
        "paragraph__text",
        "paragraph__article_id",
        "seed__fold",
        "seed__payload",
    )
    for paragraph, text, article, fold, payload in rows.iterator():
        paragraphs.add(paragraph)
        texts.add(text_key(text))
        if fold:
            placed[article] = fold, payload.get(GROUP)
    for candidate in offered:
        known = sorted({placed[one] for one in candidate.together if one in placed}, key=str)
        if not candidate.together:
            yield candidate
        elif (
            paragraphs.isdisjoint(candidate.paragraphs)
            and text_key(candidate.text) not in texts
            and len({fold for fold, _ in known}) < 2
        ):
            group = {GROUP: known[0][1]} if known else {}
            yield replace(candidate, payload={**candidate.payload, **group})


def _wanted(collection: Collection, parameters: Parameters, count: int) -> dict[str, int]:
    """Return how many new seeds each stage that starts from seeds needs."""
    wanted = {}
    for name, table in parameters.stages().items():
        if table.items_from != "seeds":
            continue
        have = collection.seeds.filter(stage__name=name).count()
        wanted[name] = max(0, table.items_per_hit - have) if table.qualifies else count
    return wanted


def _in_turn(wanted: dict[str, int], parameters: Parameters) -> list[str]:
    """Return the stage of each new seed: those that qualify first, then the others in turn.

    Where several stages start from seeds, none gets all those that come first.
    """
    tables = parameters.stages()
    qualifying = [name for name in wanted if tables[name].qualifies]
    others = [name for name in wanted if not tables[name].qualifies]
    first = [name for name in qualifying for _ in range(wanted[name])]
    most = max((wanted[name] for name in others), default=0)
    return first + [name for turn in range(most) for name in others if turn < wanted[name]]


def _of_what(wanted: dict[str, int], parameters: Parameters) -> str:
    """Return, in brackets, why that many; "" where it is as many as were asked for."""
    main = stages_from_seeds(parameters)
    parts = [f"{wanted[main[0]]:,} for each of {' and '.join(main)}"] if main[1:] else []
    if any(number for name, number in wanted.items() if name not in main):
        parts.append("those of the qualification included")
    return f" ({', '.join(parts)})" if parts else ""


def store_candidates(
    collection: Collection,
    parameters: Parameters,
    chosen: list[Candidate],
    stages: list[str],
    first: int,
) -> dict[str, int]:
    """Write candidates as seeds of `stages`, from position `first`, each with its fold planned.

    Returns the new seeds of the main task per fold; expects the lock of the collection.
    """
    protocol = get_protocol(collection.protocol)
    main = [
        candidate
        for candidate, stage in zip(chosen, stages, strict=True)
        if not parameters.stages()[stage].qualifies
    ]
    planned = Counter(collection.seeds.exclude(fold="").values_list("fold", flat=True))
    rng = random.Random(f"{collection.random_seed}:folds:{first}")
    splits = protocol.part(SPLITS)
    placed = list(placed_seeds(collection, protocol))
    together = main
    if protocol.has(SPLITS, "plan"):
        together, _ = joined(placed, main, least_share(parameters))
    # None of a text, or of a group, ever straddles folds.
    fold_of_text = {splits.text_key(str(each.group or each.texts[0])): each.fold for each in placed}
    folds = splits.plan(together, parameters, rng, planned=planned, fold_of_text=fold_of_text)
    rows = store_seeds(
        collection,
        [
            (candidate, first + offset, stage, folds.get(candidate.key, ""))
            for offset, (candidate, stage) in enumerate(zip(chosen, stages, strict=True))
        ],
    )
    planned_for = {candidate.key for candidate in main}
    return dict(Counter(row.fold for row in rows if row.key in planned_for))


def store_seeds(
    collection: Collection, chosen: Sequence[tuple[Candidate, int, str, str]]
) -> list[Seed]:
    """Write each (candidate, position, stage's name, fold) as a seed; return them in that order."""
    stages = {stage.name: stage for stage in collection.stages.all()}
    rows = Seed.objects.bulk_create(
        Seed(
            collection=collection,
            key=candidate.key,
            position=position,
            stage=stages[stage],
            fold=fold,
            payload=candidate.payload,
        )
        for candidate, position, stage, fold in chosen
    )
    SeedParagraph.objects.bulk_create(
        SeedParagraph(seed=row, paragraph_id=paragraph, position=position)
        for row, (candidate, *_) in zip(rows, chosen, strict=True)
        for position, paragraph in enumerate(candidate.paragraphs)
    )
    return rows


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
    """Return what other values of the thresholds would give where more seeds are needed.

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
