"""Sets are proposed from everywhere, kept or dropped by someone, and become what is drawn from."""

from typing import Any

import pytest
from django.utils import timezone

from collector.candidates.candidate_sets import (
    CandidatesError,
    Proposal,
    Proposer,
    Union,
    add_sets,
    decide,
    pools_of,
    try_pair,
    union_of,
)
from collector.candidates.tests.making import make_pairs, make_towns
from collector.models import Article, CandidateSet, Collection, CollectionState, Corpus, Seed
from collector.seeds.selection import select_seeds
from common.actions import ActionError


@pytest.fixture
def proposer(pilot: Collection) -> Proposer:
    return Proposer(pilot.corpus)


def titles(proposer: Proposer, proposal: Proposal) -> list[str]:
    found = Article.objects.in_bulk(proposer.articles(proposal.nodes))
    return [found[article].title for article in proposer.articles(proposal.nodes)]


def add(collection: Collection, *proposals: Proposal, kept_by: str = "") -> list[CandidateSet]:
    proposer = Proposer(collection.corpus)
    return add_sets(collection, proposer, proposals, timezone.now(), kept_by).new


def test_titles_lead_to_pages_however_they_are_written(proposer: Proposer) -> None:
    found = proposer.titles("bridge", "mine", ["hollin", "Old_Quern", " ", "Nowhere"], "mine.txt")
    assert titles(proposer, found) == ["Quern", "Hollin"]
    assert found.n_missing == 1


def test_a_category_is_cut_to_its_most_linked_pages(pilot: Collection) -> None:
    whole = Proposer(pilot.corpus).category("bridge", "Category:towns")
    assert titles(Proposer(pilot.corpus), whole) == ["Quern", "Hollin", "Staith", "Lonely"]
    cut = Proposer(pilot.corpus, most_linked=2)
    assert titles(cut, cut.category("bridge", "Towns")) == ["Quern", "Hollin"]


def test_of_a_list_page_the_first_link_of_each_item_counts(proposer: Proposer) -> None:
    found = proposer.list_page("comparison", "List of towns")
    assert titles(proposer, found) == ["Quern", "Hollin"]
    assert found.source == "List: List of towns"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda p: p.category("bridge", "Rivers"), "no category 'Rivers'"),
        (lambda p: p.list_page("comparison", "List of rivers"), "no page 'List of rivers'"),
        (lambda p: p.list_page("comparison", "Empty list"), "no list whose items link"),
        (lambda p: p.titles("bridge", "x", ["Lonely"], "x.txt"), "no first paragraph links"),
        (lambda p: p.titles("comparison", "x", ["Ada"], "x.txt"), "needs two"),
        (lambda p: p.titles("bridge", "x", ["y" * 300], "x.txt"), "one title a line"),
        (lambda p: list(p.copies(Collection(corpus=Corpus(slug="other")))), "within a corpus"),
    ],
)
def test_what_gives_no_set_is_one_clear_line(proposer: Proposer, ask: Any, said: str) -> None:
    with pytest.raises(CandidatesError, match=said):
        ask(proposer)


def test_kept_sets_become_one_pool_without_pages_that_nothing_links_to(
    pilot: Collection, proposer: Proposer
) -> None:
    towns, people, compared, left = add(
        pilot,
        proposer.category("bridge", "Towns"),
        proposer.titles("bridge", "A few", ["Quern", "Grace"], "few.txt"),
        proposer.category("comparison", "Towns"),
        proposer.category("bridge", "People"),
    )
    assert union_of(pilot) == Union(0, 0, 0, 0, 0)
    for each in (towns, people, compared):
        decide(each, "kept", "Rita", timezone.now())
    decide(left, "dropped", "Rita", timezone.now())
    assert union_of(pilot) == Union(entities=4, edges=7, without_links=1, lists=1, listed=4)
    pools = pools_of(pilot)
    assert set(pools.bridges.values()) == {"A few", "Towns"}
    assert decide(towns, "proposed", "Rita", timezone.now()) == 0
    assert (towns.collection.candidate_sets.get(pk=towns.pk).decided_by) == ""
    assert union_of(pilot).entities == 2


def test_a_set_of_that_name_stays_as_it_is(pilot: Collection, proposer: Proposer) -> None:
    (first,) = add(pilot, proposer.category("bridge", "Towns"))
    again = add_sets(pilot, proposer, [proposer.category("bridge", "Towns")], timezone.now())
    assert (again.new, again.there) == ([], ["Towns"])
    assert first.members.count() == 4


def test_kept_sets_are_copied_from_another_collection(
    pilot: Collection, proposer: Proposer
) -> None:
    add(pilot, proposer.category("bridge", "Towns"), kept_by="Rita")
    add(pilot, proposer.category("bridge", "People"))
    other = make_pairs(pilot.corpus, "other")
    (copied,) = add(other, *proposer.copies(pilot))
    assert (copied.name, copied.source) == ("Towns", "Category: Towns, from pilot")
    assert copied.members.count() == 4


def test_without_sets_categories_are_proposed_and_wait(pilot: Collection) -> None:
    with pytest.raises(ActionError, match="No candidate set is kept"):
        select_seeds(pilot, 3)
    proposed = set(pilot.candidate_sets.values_list("role", "name", "state"))
    assert proposed == {
        ("bridge", "Towns", "proposed"),
        ("bridge", "People", "proposed"),
        ("comparison", "Towns", "proposed"),
        ("comparison", "People", "proposed"),
    }


def test_a_parameter_keeps_them_unseen_and_more_seeds_go_on_where_it_stopped(
    pilot: Collection,
) -> None:
    at_once = make_pairs(pilot.corpus, "at-once", keep_defaults=True)
    in_parts = make_pairs(pilot.corpus, "in-parts", keep_defaults=True)
    assert select_seeds(at_once, 6) == {"": 6}
    select_seeds(in_parts, 2)
    select_seeds(in_parts, 4)
    keys = [list(each.seeds.values_list("key", "payload")) for each in (at_once, in_parts)]
    assert keys[0] == keys[1]
    assert {payload["type"] for _, payload in keys[0]} == {"bridge", "comparison"}
    assert at_once.candidate_sets.first().decided_by == "nobody: kept unseen"


def test_seeds_from_other_sets_are_let_go_and_published_sets_are_locked(
    pilot: Collection, proposer: Proposer
) -> None:
    sets = add(pilot, proposer.category("bridge", "Towns"), proposer.category("bridge", "People"))
    Seed.objects.create(
        collection=pilot, key="k", position=1, stage=pilot.stages.get(name="question")
    )
    assert decide(sets[0], "dropped", "Rita", timezone.now()) == 0
    assert decide(sets[1], "kept", "Rita", timezone.now()) == 1
    assert not pilot.seeds.exists()
    Collection.objects.update(state=CollectionState.COLLECTING)
    with pytest.raises(CandidatesError, match="locked since the first publication"):
        decide(sets[0], "kept", "Rita", timezone.now())
    with pytest.raises(CandidatesError, match="copy the sets"):
        add(pilot, proposer.category("comparison", "Towns"))


def test_a_pair_is_tried_once_and_can_be_taken_back(pilot: Collection, proposer: Proposer) -> None:
    (towns,) = add(pilot, proposer.category("bridge", "Towns"))
    first, second = proposer.articles([0, 1])
    for works in (True, False):
        try_pair(towns, (first, second), works, "Rita", timezone.now())
    assert list(towns.trials.values_list("works", flat=True)) == [False]
    try_pair(towns, (first, second), None, "Rita", timezone.now())
    assert not towns.trials.exists()


def test_the_same_pairs_are_drawn_whatever_the_rows_are_numbered(
    pilot: Collection, tmp_path: Any
) -> None:
    again = make_pairs(make_towns(tmp_path, "towns-again"), "again", keep_defaults=True)
    pilot.parameters["seeds"]["keep_defaults"] = True
    pilot.save()
    for each in (pilot, again):
        select_seeds(each, 6)
    assert list(pilot.seeds.values_list("key")) == list(again.seeds.values_list("key"))
