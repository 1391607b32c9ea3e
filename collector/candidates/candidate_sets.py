"""Candidate sets: proposed, kept or dropped, and the pools that pairs are drawn from."""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from django.db import transaction
from django.db.models import Count

from collector.code_points import CodePoints
from collector.graph.files import graph_of
from collector.graph.graph_file import Graph
from collector.ingest.link_resolution import Resolver
from collector.ingest.titles import MAX_TITLE_BYTES
from collector.models import (
    Article,
    CandidateMember,
    CandidateSet,
    Category,
    Collection,
    CollectionState,
    Corpus,
    PairTrial,
    Paragraph,
    SetRole,
    SetState,
)
from collector.protocols.parameters import CuratedTable

Pair = tuple[int, int]


@dataclass(frozen=True)
class Pools:
    """What is drawn from, as nodes of the graph, in the graph's order.

    `bridges`: the pages that an edge may lead to, each with the name of its set, the first of the
    alphabet where several have it; none is without an edge to it. `lists`: two pages or more each.
    """

    graph: Graph
    bridges: dict[int, str]
    lists: dict[str, tuple[int, ...]]

    def bridge_drawer(self) -> "BridgeDrawer":
        """Return what draws edges to the union of the sets."""
        return BridgeDrawer(self.graph, self.bridges)

    def list_drawer(self) -> "ListDrawer":
        """Return what draws two pages of one of the lists."""
        return ListDrawer(self.lists)


class BridgeDrawer:
    """Draws an entity uniformly, then an edge to it uniformly, in constant time."""

    def __init__(self, graph: Graph, bridges: dict[int, str]) -> None:
        self._graph, self._names, self._entities = graph, bridges, list(bridges)

    def draw(self, rng: random.Random) -> tuple[str, Pair]:
        """Return the name of a set and an edge (a, b): the first paragraph of a links to b."""
        entity = self._entities[rng.randrange(len(self._entities))]
        return self._names[entity], (self._graph.draw_source(entity, rng), entity)


class ListDrawer:
    """Draws a list in proportion to its size, then two of its pages uniformly."""

    def __init__(self, lists: dict[str, tuple[int, ...]]) -> None:
        self._names = list(lists)
        self._lists = lists
        self._sizes = list(accumulate(len(pages) for pages in lists.values()))

    def draw(self, rng: random.Random) -> tuple[str, Pair]:
        """Return the list's name and two different pages of it, in the order drawn."""
        (name,) = rng.choices(self._names, cum_weights=self._sizes)
        first, second = rng.sample(self._lists[name], 2)
        return name, (first, second)


@dataclass(frozen=True)
class Union:
    """Counts of the pools: bridge entities, edges to them, and what kept sets hold in vain.

    `without_links` pages of kept sets have no edge to them and are left out.
    """

    entities: int
    edges: int
    without_links: int
    lists: int
    listed: int


def pools_of(collection: Collection) -> Pools:
    """Return what the kept sets of the collection hold; raises GraphError."""
    graph = graph_of(collection.corpus)
    bridges: dict[int, str] = {}
    lists: dict[str, tuple[int, ...]] = {}
    kept = collection.candidate_sets.filter(state=SetState.KEPT)
    for each in kept.order_by(CodePoints("name")):
        nodes = nodes_of(graph, each)
        if each.role == SetRole.BRIDGE:
            for node in linked(graph, nodes):
                bridges.setdefault(node, each.name)
        elif len(nodes) > 1:
            lists[each.name] = tuple(nodes)
    # In an order that no database decides.
    in_order = {node: bridges[node] for node in sorted(bridges)}
    return Pools(graph, in_order, {name: lists[name] for name in sorted(lists)})


def union_of(collection: Collection) -> Union:
    """Return what the kept sets become together; raises GraphError."""
    pools = pools_of(collection)
    kept = CandidateMember.objects.filter(
        candidate_set__in=collection.candidate_sets.filter(state=SetState.KEPT, role=SetRole.BRIDGE)
    )
    return Union(
        entities=len(pools.bridges),
        edges=sum(pools.graph.in_degrees(list(pools.bridges))),
        without_links=kept.values("article").distinct().count() - len(pools.bridges),
        lists=len(pools.lists),
        listed=sum(len(pages) for pages in pools.lists.values()),
    )


def nodes_of(graph: Graph, each: CandidateSet) -> list[int]:
    """Return the nodes of a set's pages, ascending."""
    pages = each.members.values_list("article__page_id", flat=True)
    return sorted(graph.nodes_of(list(pages)).values())


def linked(graph: Graph, nodes: Iterable[int]) -> list[int]:
    """Return those of the nodes that an edge leads to."""
    nodes = list(nodes)
    return [node for node, n in zip(nodes, graph.in_degrees(nodes), strict=True) if n]


ARTICLES_AT_ONCE = 5000
# How many of the largest categories are looked at for each default that is proposed.
LOOKED_AT_FOR_EACH = 5


class CandidatesError(Exception):
    """A set cannot be proposed or decided; the message says what to do."""


@dataclass(frozen=True)
class Proposal:
    """A set that is not stored yet: its pages as nodes, the most-linked first.

    `n_missing` titles of its source lead to no page with a first paragraph.
    """

    role: str
    name: str
    source: str
    nodes: tuple[int, ...]
    n_missing: int = 0


class Proposer:
    """Makes proposals for one corpus."""

    def __init__(self, corpus: Corpus, most_linked: int = 0) -> None:
        """`most_linked`: how many of its most-linked pages a set keeps, 0 for all.

        Raises GraphError.
        """
        self._corpus, self._most = corpus, most_linked
        self._graph: Graph = graph_of(corpus)

    def titles(self, role: str, name: str, titles: Iterable[str], source: str) -> Proposal:
        """Return a set of the pages that titles lead to; case of first letters, `_` do not matter.

        Raises CandidatesError where none leads anywhere.
        """
        wanted = {_normal(title) for title in titles} - {""}
        if any(len(title.encode()) > MAX_TITLE_BYTES for title in wanted):
            raise CandidatesError(
                f"{source} is no list of titles: write one title a line, as the wiki writes it."
            )
        found = Resolver(self._corpus).resolve(sorted(wanted))
        nodes = self._nodes(found.values())
        return self._checked(role, name, source, nodes, len(wanted) - len(nodes))

    def category(self, role: str, title: str) -> Proposal:
        """Return the pages of a category; raises CandidatesError for an unknown one."""
        name = _normal(title.partition(":")[2] if title.startswith("Category:") else title)
        row = Category.objects.filter(corpus=self._corpus, title=name).first()
        if row is None:
            raise CandidatesError(
                f"The corpus {self._corpus.slug} has no category {name!r}: write its title as the "
                "wiki does, without the namespace."
            )
        articles = row.article_categories.values_list("article_id", flat=True)
        return self._checked(role, name, f"Category: {name}", self._nodes(articles), 0)

    def list_page(self, role: str, title: str) -> Proposal:
        """Return the first link of each item of the page's lists; raises CandidatesError."""
        found = Resolver(self._corpus).resolve([_normal(title)])
        if not found:
            raise CandidatesError(
                f"The corpus {self._corpus.slug} has no page {title!r}: write its title as the "
                "wiki does."
            )
        (article,) = Article.objects.filter(pk__in=found.values())
        items = Paragraph.objects.filter(article=article, kind="list_item", n_links__gt=0)
        titles = [links[0][2] for links in items.values_list("links", flat=True)]
        if not titles:
            raise CandidatesError(f"The page {article.title!r} has no list whose items link.")
        return self.titles(role, article.title, titles, f"List: {article.title}")

    def copies(self, other: Collection) -> Iterator[Proposal]:
        """Yield the kept sets of a collection on the same corpus; raises CandidatesError."""
        if other.corpus_id != self._corpus.pk:
            raise CandidatesError(
                f"{other.slug} is on the corpus {other.corpus.slug}: sets are copied only within "
                "a corpus."
            )
        for each in other.candidate_sets.filter(state="kept"):
            nodes = self._nodes(each.members.values_list("article_id", flat=True))
            yield Proposal(each.role, each.name, f"{each.source}, from {other.slug}", tuple(nodes))

    def defaults(self, role: str, number: int, smallest: int, max_share: float) -> list[Proposal]:
        """Return up to `number` categories: those with the most pages that can be drawn.

        Categories of fewer than `smallest` such pages, or of more than `max_share` (0 … 1) of all
        articles, have no theme.
        """
        largest = int(max_share * self._graph.n_nodes)
        rows = (
            Category.objects.filter(corpus=self._corpus)
            .annotate(n=Count("article_categories"))
            .filter(n__gte=smallest, n__lte=largest)
            .order_by("-n", CodePoints("title"))
        )
        found = []
        for title in rows.values_list("title", flat=True)[: LOOKED_AT_FOR_EACH * number]:
            try:
                proposal = self.category(role, title)
            except CandidatesError:
                continue
            usable = self._usable(role, proposal.nodes)
            if usable >= smallest:
                found.append((usable, proposal))
        found.sort(key=lambda pair: (-pair[0], pair[1].name))
        return [proposal for _, proposal in found[:number]]

    def _checked(
        self, role: str, name: str, source: str, nodes: Sequence[int], n_missing: int
    ) -> Proposal:
        """Return the proposal, cut; raises CandidatesError where nothing could be drawn from it."""
        kept = tuple(nodes[: self._most] if self._most else nodes)
        if role == SetRole.BRIDGE and not self._usable(role, kept):
            raise CandidatesError(
                f"{source}: no first paragraph links to any of its pages, so no pair can be drawn."
            )
        if role == SetRole.COMPARISON and len(kept) < 2:
            raise CandidatesError(
                f"{source}: fewer than two of its pages have a first paragraph in the corpus; a "
                "comparison needs two."
            )
        return Proposal(role, name[:200], source[:300], kept, n_missing)

    def _usable(self, role: str, nodes: Sequence[int]) -> int:
        if role == SetRole.COMPARISON:
            return len(nodes)
        return sum(degree > 0 for degree in self._graph.in_degrees(nodes))

    def _nodes(self, articles: Iterable[int]) -> list[int]:
        """Return the nodes of articles, the most-linked first, then in the graph's order."""
        ids = sorted(set(articles))
        pages: list[int] = []
        for start in range(0, len(ids), ARTICLES_AT_ONCE):
            rows = Article.objects.filter(pk__in=ids[start : start + ARTICLES_AT_ONCE])
            pages += rows.values_list("page_id", flat=True)
        nodes = sorted(self._graph.nodes_of(pages).values())
        degrees = dict(zip(nodes, self._graph.in_degrees(nodes), strict=True))
        return sorted(nodes, key=lambda node: (-degrees[node], node))

    def articles(self, nodes: Iterable[int]) -> list[int]:
        """Return the rows of nodes."""
        return [int(self._graph.articles[node]) for node in nodes]


def titles_in(content: bytes, source: str) -> list[str]:
    """Return the titles of a file, one a line; blank lines and those that begin with # are none.

    Raises CandidatesError for what is no text.
    """
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise CandidatesError(
            f"{source} is no text in UTF-8: save it as plain text with one title a line."
        ) from None
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _normal(title: str) -> str:
    """Return a title as the wiki stores it, whatever way a person wrote it."""
    words = " ".join(title.replace("_", " ").split())
    return words[:1].upper() + words[1:]


@dataclass(frozen=True)
class AddedSets:
    """The sets that were stored, and the names of those that were there already."""

    new: list[CandidateSet]
    there: list[str]


def add_sets(
    collection: Collection,
    proposer: Proposer,
    proposals: Iterable[Proposal],
    now: datetime,
    kept_by: str = "",
) -> AddedSets:
    """Store proposals; a set of that role and name that is there stays as it is.

    `kept_by`: who keeps them unseen; blank, they wait for a decision. Raises CandidatesError for a
    collection whose pairs are drawn already.
    """
    new: list[CandidateSet] = []
    there: list[str] = []
    with _changing(collection):
        for proposal in proposals:
            row, created = CandidateSet.objects.get_or_create(
                collection=collection,
                role=proposal.role,
                name=proposal.name,
                defaults={
                    "source": proposal.source,
                    "n_missing": proposal.n_missing,
                    "created_at": now,
                    "state": SetState.KEPT if kept_by else SetState.PROPOSED,
                    "decided_by": kept_by,
                    "decided_at": now if kept_by else None,
                },
            )
            if not created:
                there.append(row.name)
                continue
            CandidateMember.objects.bulk_create(
                CandidateMember(candidate_set=row, article_id=article)
                for article in proposer.articles(proposal.nodes)
            )
            new.append(row)
    return AddedSets(new, there)


def decide(each: CandidateSet, state: str, by: str, now: datetime) -> int:
    """Keep or drop the set, or undo either by proposing it again.

    Seeds that were chosen from other sets are let go; returns how many. Raises CandidatesError
    once HITs are out.
    """
    with _changing(each.collection) as collection:
        row = CandidateSet.objects.get(pk=each.pk)
        drawn_from = SetState.KEPT in (row.state, state) and row.state != state
        decided = state != SetState.PROPOSED
        row.state = state
        row.decided_by, row.decided_at = (by, now) if decided else ("", None)
        row.save(update_fields=["state", "decided_by", "decided_at"])
        lost = collection.seeds.count() if drawn_from else 0
        if lost:
            collection.seeds.all().delete()
    return lost


def keep_all(collection: Collection, role: str, by: str, now: datetime) -> int:
    """Keep every set of a role that waits for a decision, as if each were kept by itself.

    Seeds that were chosen from other sets are let go; returns how many. Raises CandidatesError
    once HITs are out.
    """
    with _changing(collection) as row:
        waiting = row.candidate_sets.filter(role=role, state=SetState.PROPOSED)
        kept = waiting.update(state=SetState.KEPT, decided_by=by, decided_at=now)
        lost = row.seeds.count() if kept else 0
        if lost:
            row.seeds.all().delete()
    return lost


def try_pair(
    each: CandidateSet, pair: tuple[int, int], works: bool | None, by: str, now: datetime
) -> None:
    """Note whether a question can be asked about a pair of articles; None takes the note back."""
    if works is None:
        each.trials.filter(first_id=pair[0], second_id=pair[1]).delete()
        return
    PairTrial.objects.update_or_create(
        candidate_set=each,
        first_id=pair[0],
        second_id=pair[1],
        defaults={"works": works, "by": by, "at": now},
    )


@contextmanager
def _changing(collection: Collection) -> Iterator[Collection]:
    """Give the collection, locked; raises CandidatesError once it is published."""
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if row.state != CollectionState.DRAFT:
            raise CandidatesError(
                "What pairs are drawn from decides the data, and is locked since the first "
                "publication: create another collection and copy the sets you want."
            )
        yield row


# Who keeps sets that nobody has looked at.
UNSEEN = "nobody: kept unseen"


def propose_defaults(
    collection: Collection, rule: CuratedTable, now: datetime, keep: bool = False
) -> AddedSets:
    """Propose categories as sets and lists where the collection has none at all.

    They are kept at once only where `keep` or `seeds.keep_defaults` says so. Raises
    CandidatesError after the publication, GraphError.
    """
    if collection.candidate_sets.exists():
        return AddedSets([], [])
    proposer = Proposer(collection.corpus)
    cut = Proposer(collection.corpus, rule.most_linked)
    proposals = [
        *cut.defaults(
            SetRole.BRIDGE, rule.default_sets, rule.min_default_pages, rule.max_default_share
        ),
        *proposer.defaults(
            SetRole.COMPARISON, rule.default_lists, rule.min_default_pages, rule.max_default_share
        ),
    ]
    kept_by = UNSEEN if keep or rule.keep_defaults else ""
    return add_sets(collection, proposer, proposals, now, kept_by)
