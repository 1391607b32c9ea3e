"""Chooses a collection's seeds by its protocol's rules, leaves out near copies, and plans folds."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from collector.candidates.pools import pools_of
from collector.candidates.proposals import CandidatesError, propose_defaults
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
