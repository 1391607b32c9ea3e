"""Sections of well-known people are offered; each filter says what it left."""

import random
from typing import Any

import pytest

from annotation.protocols.quac import seeds
from annotation.protocols.quac.seeds import candidates
from annotation.protocols.quac.tests.making import (
    LAX,
    LIFE,
    make_collection,
    make_corpus,
    make_person,
)
from collector.models import (
    Category,
    Corpus,
    Paragraph,
    Section,
    Seed,
    SeedParagraph,
    Subcategory,
)
from collector.protocols.loading import get_protocol
from collector.seeds.selection import find_looser, noun_of, select_seeds

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return make_corpus()


def offered(corpus: Corpus, **changes: Any) -> tuple[set[str], dict[str, int]]:
    """Return the titles of what is offered, and the steps, with some parameters changed."""
    changed = {f"seeds.{name}": value for name, value in changes.items()}
    parameters: Any = get_protocol("quac").parameters(LAX | changed)
    found = candidates(corpus, parameters, random.Random(1))
    return {candidate.payload["title"] for candidate in found}, dict(found.steps)


def test_a_seed_is_the_background_and_the_sections_paragraphs(corpus: Corpus) -> None:
    make_person(corpus, "Ada Lovelace", LIFE, "Then she rested for a year.")
    parameters: Any = get_protocol("quac").parameters(LAX)
    (candidate,) = candidates(corpus, parameters, random.Random(1))
    texts = [Paragraph.objects.get(pk=pk).text for pk in candidate.paragraphs]
    assert texts == ["Ada Lovelace was a person.", LIFE, "Then she rested for a year."]
    assert candidate.text == f"{LIFE} Then she rested for a year."
    assert candidate.payload == {"title": "Ada Lovelace", "heading": "Life"}


def test_values_are_tried_without_reading_a_text_twice(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_person(corpus, "Ada Lovelace", LIFE)
    reads: list[str] = []

    def counting(name: str) -> None:
        whole = getattr(seeds, name)

        def told(text: str, language: str) -> Any:
            reads.append(name)
            return whole(text, language)

        monkeypatch.setattr(seeds, name, told)

    counting("tokens")
    counting("split")
    how_many = seeds.counter(corpus)
    for most in (600, 700, 800):
        parameters: Any = get_protocol("quac").parameters(LAX | {"seeds.max_tokens": most})
        assert how_many(parameters) == 1
    assert reads == ["tokens", "split"]


def test_persons_are_told_by_categories_or_titles_or_not_at_all(corpus: Corpus) -> None:
    make_person(corpus, "Ada Lovelace", LIFE)
    make_person(corpus, "Analytical engine", LIFE, category="Births of machines")
    everything = {"Ada Lovelace", "Analytical engine"}
    assert offered(corpus)[0] == {"Ada Lovelace"}
    titles = ["Analytical_engine", "Nobody"]
    assert offered(corpus, persons_by="titles", person_titles=titles)[0] == {"Analytical engine"}
    assert offered(corpus, persons_by="anything")[0] == everything


def test_persons_are_told_by_their_infobox_too(corpus: Corpus) -> None:
    ada = make_person(corpus, "Ada Lovelace", LIFE, category="Mathematicians")
    make_person(corpus, "Grace Hopper", LIFE)
    engine = make_person(corpus, "Analytical engine", LIFE, category="Machines")
    for article, names in ((ada, ["infobox module", "infobox person"]), (engine, ["infobox cpu"])):
        article.infoboxes = names
        article.save()
    assert offered(corpus, persons_by="infoboxes")[0] == {"Ada Lovelace"}
    assert offered(corpus, persons_by="categories")[0] == {"Grace Hopper"}
    titles, steps = offered(corpus, persons_by="either")
    assert titles == {"Ada Lovelace", "Grace Hopper"}
    assert [left for what, left in steps.items() if "about persons" in what] == [1, 1, 2]


def test_keywords_are_sought_some_levels_up_the_categories(corpus: Corpus) -> None:
    for number, title in enumerate(("Ada Lovelace", "Grace Hopper", "Mary Anning")):
        make_person(corpus, title, LIFE, category=f"{1815 + number} births")
    top, first, second, _ = [
        Category.objects.get_or_create(corpus=corpus, title=title)[0]
        for title in ("Animals", "1815 births", "1816 births", "1817 births")
    ]
    for parent, child in ((top, first), (first, second), (second, top)):
        Subcategory.objects.create(parent=parent, child=child)
    asked: dict[str, Any] = {"category_keywords": ["animal"]}
    assert offered(corpus, **asked, category_levels=0)[0] == set()
    titles, steps = offered(corpus, **asked, category_levels=1)
    assert titles == {"Ada Lovelace"}
    assert list(steps.values())[1:3] == [0, 1]
    deep = offered(corpus, **asked, category_levels=9)[0]
    assert deep == {"Ada Lovelace", "Grace Hopper"}


def test_keywords_begin_words_of_a_category(corpus: Corpus) -> None:
    make_person(corpus, "Ada Lovelace", LIFE, category="British animal lovers' births")
    make_person(corpus, "Grace Hopper", LIFE, category="Minimal births")
    assert offered(corpus, category_keywords=["animal", "geography"])[0] == {"Ada Lovelace"}


def test_every_filter_says_what_it_left(corpus: Corpus) -> None:
    make_person(corpus, "Ada Lovelace", LIFE)
    make_person(corpus, "Grace Hopper", LIFE, LIFE, LIFE)
    make_person(corpus, "Mallory Short", "Too short.")
    make_person(corpus, "Mary Listed", LIFE)
    Paragraph.objects.filter(article__title="Mary Listed", position=1).update(kind="list_item")
    titles, steps = offered(corpus, max_paragraphs=2)
    assert titles == {"Ada Lovelace"}
    assert list(steps.values()) == [4, 4, 0, 4, 4, 4, 3, 2, 1, 1]
    of_one, of_more = (
        {what.split()[0] for what, left in steps.items() if (left == 1) == is_one}
        for is_one in (True, False)
    )
    assert (of_one, of_more) == ({"section"}, {"articles", "sections"})


def test_sections_of_one_text_share_a_fold_across_calls(corpus: Corpus) -> None:
    for number in range(12):
        make_person(corpus, f"Twin {number}", LIFE)
    collection = make_collection(corpus)
    first = select_seeds(collection, 3)
    assert len(first) == 1
    assert select_seeds(collection, 8) == {next(iter(first)): 8}
    backgrounds = SeedParagraph.objects.filter(seed__collection=collection, position=0)
    assert backgrounds.count() == Seed.objects.count() == 12


def test_what_is_no_number_is_loosened_too_and_links_are_counted_once(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_person(corpus, "Ada Lovelace", LIFE)
    collection = make_collection(
        corpus,
        **LAX
        | {
            "seeds.category_keywords": ["animal"],
            "seeds.min_incoming_links": 100,
            "seeds.persons_by": "titles",
        },
    )
    counted, count = [], seeds.incoming_links
    monkeypatch.setattr(seeds, "incoming_links", lambda one: (counted.append(one), count(one))[1])
    found = find_looser(collection, 1)
    assert found.single == []
    assert [(one.key, one.value) for one in found.together] == [
        ("seeds.category_keywords", []),
        ("seeds.min_incoming_links", 0),
        ("seeds.persons_by", "anything"),
    ]
    assert found.together[-1].n_seeds == 1
    assert len(counted) == 1
    assert noun_of(collection) == "section"


def test_sections_of_one_article_and_of_one_paragraph_share_a_fold(corpus: Corpus) -> None:
    medal = "Both of them were given the same medal by the town on the same day."
    for number in range(8):
        rng = random.Random(number)
        told = [" ".join(f"w{rng.randrange(9999)}" for _ in range(20)) + "." for _ in range(2)]
        article = make_person(corpus, f"Person {number}", told[0])
        late = Section.objects.create(article=article, position=2, level=2, heading="Late life")
        for position, text in enumerate([told[1], medal][: 1 if number % 4 else 2], start=2):
            Paragraph.objects.create(article=article, section=late, position=position, text=text)
    collection = make_collection(corpus)
    select_seeds(collection, 7)
    select_seeds(collection, 6)
    folds: dict[str, set[str]] = {}
    for fold, payload in collection.seeds.exclude(fold="").values_list("fold", "payload"):
        folds.setdefault(payload["title"], set()).add(fold)
    assert {len(found) for found in folds.values()} == {1}
    assert len(set().union(*folds.values())) > 1
    assert folds["Person 0"] == folds["Person 4"]
