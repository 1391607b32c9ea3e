"""Sets are drawn of what belongs together, planted pairs among them; near duplicates are one."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.protocols import folds
from collector.retrieval.terms import Signatures
from collector.seeds.passage_drawing import (
    DocumentNames,
    Drawn,
    PassageSetsTable,
    TermReader,
    draw,
)
from collector.seeds.passage_sets import Passage, survey
from collector.seeds.tests.planted import plant, prose

pytestmark = pytest.mark.pure
SHARES = {"single": 0.2, "shared_terms": 0.45, "citation": 0.2, "section": 0.15}
EVEN = {"train": 1, "dev": 1, "test": 1}
WORDS = [f"w{number}" for number in range(400)]


def table(**changed: Any) -> PassageSetsTable:
    told: dict[str, Any] = {"min_characters": 1, "max_characters": 9999, "shares": SHARES}
    told |= {"three_share": 0.15, "max_documents_with_term": 5, "max_per_document": 5}
    return PassageSetsTable(
        **{**told, "max_share_together": 0.5, "near_duplicate_share": 0.5, **changed}
    )


def drawn(
    passages: Sequence[Passage], names: Sequence[Sequence[str]] = (), seed: int = 1, **changed: Any
) -> list[Drawn]:
    n_documents = passages[-1].document + 1
    rules = table(**changed)
    surveyed = survey(passages, names or [[]] * n_documents, rules)
    return draw(surveyed, rules, random.Random(seed)).sets


def texts(rng: random.Random, number: int, words: int = 60) -> list[str]:
    return [" ".join(rng.choices(WORDS, k=words)) for _ in range(number)]


def test_nine_of_ten_planted_pairs_are_among_the_first_two_hundred_sets(data: Path) -> None:
    books = prose(data / "books")
    found = wanted = 0
    for seed in (1, 2, 3):
        planted = plant(books, n_documents=200, n_pairs=40, n_cited=10, seed=seed)
        sets = [set(each.passages) for each in drawn(planted.passages, planted.names, seed)[:200]]
        found += sum(any({*pair} <= each for each in sets) for pair in planted.pairs)
        for citing, cited in planted.citations:
            document = planted.passages[cited].document
            found += any(
                citing in each and any(planted.passages[at].document == document for at in each)
                for each in sets
            )
        wanted += len(planted.pairs) + len(planted.citations)
    assert found >= 0.9 * wanted


def test_no_passage_is_in_two_sets_and_the_same_random_seed_draws_the_same() -> None:
    rng = random.Random(4)
    passages = [Passage(at // 6, at // 3, text) for at, text in enumerate(texts(rng, 240))]
    sets = drawn(passages, three_share=0.9)
    assert sets == drawn(passages, three_share=0.9) != drawn(passages, seed=2, three_share=0.9)
    of = [passage for each in sets for passage in each.passages]
    assert len(of) == len(set(of))
    assert {len(each.passages) for each in sets} == {1, 2, 3}
    shown = Counter(
        document
        for each in sets
        for document in {passages[passage].document for passage in each.passages}
    )
    assert max(shown.values()) <= 5
    members = {(each.group, passages[at].document) for each in sets for at in each.passages}
    assert max(Counter(group for group, _ in members).values()) <= 20
    # A document is in one group.
    assert len({document for _, document in members}) == len(members)


def test_each_rule_draws_what_it_says() -> None:
    rng = random.Random(5)
    plain = texts(rng, 8)
    passages = [
        Passage(0, 0, f"{plain[0]} and then Ines Corvel left."),
        Passage(0, 0, plain[1]),
        Passage(1, 1, f"{plain[2]} so they asked Ines Corvel again."),
        Passage(2, 2, f"{plain[3]} as we read in the Great Tide Tables of old."),
        Passage(3, 3, plain[4]),
        Passage(4, 4, plain[5], linked=[5]),
        Passage(5, 5, plain[6]),
    ]
    names = [["One"], ["Two"], ["Three"], ["Great Tide Tables"], ["Five"], ["Six"]]
    for rule, expected in (
        ("shared_terms", {(0, 2)}),
        ("citation", {(3, 4), (5, 6)}),
        ("section", {(0, 1)}),
        ("single", {(at,) for at in range(7)}),
    ):
        only = {name: float(name == rule) for name in SHARES}
        sets = drawn(passages, names, shares=only, three_share=0, max_share_together=1)
        assert {each.rule for each in sets} == {rule}
        assert expected <= {each.passages for each in sets}
    assert {each.passages for each in sets} == {(at,) for at in range(7)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("بُنيت المنارة على يد حسان البرزنجي سنة ١٩٠٤", "درس حسان البرزنجي الهندسة في دمشق"),
        ("灯台は早乙女凪之介が設計したものである。", "早乙女凪之介は長崎で生まれた。"),
        ("המגדלור תוכנן בידי אלקנה שרצברג", "אלקנה שרצברג נולד בצפת"),
    ],
)
def test_a_name_connects_passages_of_any_script(first: str, second: str) -> None:
    others = ["تقع المدينة على البحر", "町は海に面している。", "העיר שוכנת לחוף הים", "It rains."]
    all_texts = [others[0], first, *others[1:3], second, others[3]]
    passages = [Passage(at, at, text) for at, text in enumerate(all_texts)]
    sets = drawn(passages, shares={**dict.fromkeys(SHARES, 0.0), "shared_terms": 1.0})
    assert sets[0].passages == (1, 4)


class Sliced(list[int]):
    """Terms of a text that count how often some of them are looked at."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        self.looks += isinstance(at, slice)
        return super().__getitem__(at)


def test_however_many_titles_begin_alike_a_text_is_looked_up_once_at_each_place() -> None:
    reader = TermReader()
    names = [(number, [f"Report {number}", f"Report of {number}"]) for number in range(300)]
    cited = DocumentNames(reader, names)
    (part,) = reader.read("report 7 report of 8 report of nobody")
    terms = Sliced(part)
    cited.read(0, 400, [terms])
    assert [one.document for one in cited.citations([1.0] * 1000)] == [7, 8]
    assert terms.looks <= 6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 5), st.integers(0, 3))
def test_near_duplicates_are_never_in_two_folds(seed: int, copies: int, changes: int) -> None:
    rng = random.Random(seed)
    passages = [Passage(at // 3, at // 3, text) for at, text in enumerate(texts(rng, 45))]
    copied = rng.randrange(45)
    same = {copied}
    for document in rng.sample([each for each in range(15) if each != copied // 3], copies):
        words = passages[copied].text.split()
        for _ in range(changes):
            words[rng.randrange(len(words))] = "another"
        at = 3 * document + rng.randrange(3)
        passages[at] = passages[at]._replace(text=" ".join(words))
        same.add(at)
    sets = drawn(passages, seed=seed)
    seeds = [
        {"key": number, "text": str(each.group), "passages": each.passages}
        for number, each in enumerate(sets)
    ]
    planned = folds.plan(seeds, PassageWeights(), random.Random(seed))
    fold_of = {
        passages[at].document: planned[number]
        for number, each in enumerate(sets)
        for at in each.passages
    }
    # One of them at most is asked about, and their documents are in one fold.
    assert sum(at in same for each in sets for at in each.passages) <= 1
    assert len({fold_of[at // 3] for at in same if at // 3 in fold_of}) <= 1


class PassageWeights:
    train, dev, test = EVEN.values()


def test_what_most_documents_have_is_never_drawn_and_connects_nothing() -> None:
    rng = random.Random(6)
    [notice] = texts(rng, 1)
    passages = []
    for document in range(30):
        passages.append(Passage(document, document, notice))
        passages += [Passage(document, document, text) for text in texts(rng, 3)]
    rules = table(max_share_together=0.2)
    drawing = draw(survey(passages, [[]] * 30, rules), rules, random.Random(1))
    sets = drawing.sets
    assert (drawing.n_doubles, drawing.n_common) == (0, 30)
    assert not any(at % 4 == 0 for each in sets for at in each.passages)
    assert len({each.group for each in sets}) > 5


def test_signatures_tell_how_much_texts_have_in_common() -> None:
    import numpy

    rng = random.Random(7)
    terms = [rng.randrange(10**6) for _ in range(200)]
    half, most = (
        [*terms[:kept], *(rng.randrange(10**6) for _ in range(200 - kept))] for kept in (100, 160)
    )
    signatures = Signatures()
    empty: list[int] = []
    signatures.add([numpy.array(each, "<u8") for each in (terms, half, most, empty, empty)])
    # Of the half that is the same a third of all shingles is, of the most two thirds.
    assert signatures.groups(0.5) == [0, 1, 0, 3, 4]
    assert signatures.groups(0.9) == [0, 1, 2, 3, 4]
    assert Signatures().groups(0.5) == []
