"""Sections of well-known people are offered; each filter says what it left."""

import random
from typing import Any

import pytest

from annotation.protocols.quac.seeds import candidates
from annotation.protocols.quac.tests.making import (
    LAX,
    LIFE,
    make_collection,
    make_corpus,
    make_person,
)
from collector.models import Corpus, Paragraph, Seed, SeedParagraph
from collector.protocol import find
from collector.seeds.selection import select_seeds

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus() -> Corpus:
    return make_corpus()


def offered(corpus: Corpus, **changes: Any) -> tuple[set[str], dict[str, int]]:
    """Return the titles of what is offered, and the steps, with some parameters changed."""
    changed = {f"seeds.{name}": value for name, value in changes.items()}
    parameters: Any = find("quac").parameters(LAX | changed)
    found = candidates(corpus, parameters, random.Random(1))
    return {candidate.payload["title"] for candidate in found}, dict(found.steps)


def test_a_seed_is_the_background_and_the_sections_paragraphs(corpus: Corpus) -> None:
    make_person(corpus, "Ada Lovelace", LIFE, "Then she rested for a year.")
    parameters: Any = find("quac").parameters(LAX)
    (candidate,) = candidates(corpus, parameters, random.Random(1))
    texts = [Paragraph.objects.get(pk=pk).text for pk in candidate.paragraphs]
    assert texts == ["Ada Lovelace was a person.", LIFE, "Then she rested for a year."]
    assert candidate.text == f"{LIFE} Then she rested for a year."
    assert candidate.payload == {"title": "Ada Lovelace", "heading": "Life"}


def test_persons_are_told_by_categories_or_titles_or_not_at_all(corpus: Corpus) -> None:
    make_person(corpus, "Ada Lovelace", LIFE)
    make_person(corpus, "Analytical engine", LIFE, category="Births of machines")
    everything = {"Ada Lovelace", "Analytical engine"}
    assert offered(corpus)[0] == {"Ada Lovelace"}
    titles = ["Analytical_engine", "Nobody"]
    assert offered(corpus, persons_by="titles", person_titles=titles)[0] == {"Analytical engine"}
    assert offered(corpus, persons_by="anything")[0] == everything


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
    assert list(steps.values()) == [4, 4, 4, 4, 3, 2, 1, 1]


def test_sections_of_one_text_share_a_fold_across_calls(corpus: Corpus) -> None:
    for number in range(12):
        make_person(corpus, f"Twin {number}", LIFE)
    collection = make_collection(corpus)
    first = select_seeds(collection, 3)
    assert len(first) == 1
    assert select_seeds(collection, 8) == {next(iter(first)): 8}
    backgrounds = SeedParagraph.objects.filter(seed__collection=collection, position=0)
    assert backgrounds.count() == Seed.objects.count() == 12
