"""Paragraphs are drawn from many articles, and an article is whole in one split."""

import random
from collections import defaultdict
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.protocols.squad import seeds
from collector.models import Article, Collection, Corpus, Paragraph, Section, Seed
from collector.protocols.loading import get_protocol
from tests.page_workers import run

pytestmark = pytest.mark.django_db
SMALL = {"seeds.min_characters": 10, "seeds.max_per_article": 3}


@pytest.fixture
def corpus() -> Corpus:
    """Return a corpus of ten articles of four paragraphs each, without a single link."""
    corpus = Corpus.objects.create(slug="own", name="Own", language="en", state="ready")
    for number in range(10):
        article = Article.objects.create(
            corpus=corpus, page_id=number, title=f"Rule {number}", revision_id=1
        )
        section = Section.objects.create(article=article, position=0, level=1, heading="Scope")
        for place in range(4):
            # The last one is the same everywhere.
            text = f"Rule {number}, part {place}." if place < 3 else "This rule holds everywhere."
            Paragraph.objects.create(article=article, section=section, position=place, text=text)
    return corpus


def parameters(**changes: Any) -> Any:
    """Return the protocol's parameters for so short paragraphs."""
    of = get_protocol("squad").parameters()
    table = of.seeds.model_copy(update={"min_characters": 10, "max_per_article": 3} | changes)
    return of.model_copy(update={"seeds": table})


def test_each_article_gives_one_before_any_a_second(corpus: Corpus) -> None:
    short = parameters(max_characters=20)
    drawn = [list(seeds.candidates(corpus, short, random.Random(n))) for n in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    titles = [each.payload["group"] for each in drawn[0]]
    assert [len(set(titles[turn : turn + 10])) for turn in (0, 10, 20)] == [10, 10, 10]
    assert len({each.key for each in drawn[0]}) == 30
    assert seeds.counter(corpus)(parameters()) == 30
    assert seeds.counter(corpus)(parameters(min_characters=25)) == 10


def test_of_equal_paragraphs_one_is_asked_about(corpus: Corpus) -> None:
    texts = [
        one.text
        for one in seeds.candidates(corpus, parameters(max_per_article=4), random.Random(1))
    ]
    assert len(texts) == len(set(texts)) == 31


def test_an_article_is_whole_in_one_split_however_often_seeds_are_chosen(corpus: Corpus) -> None:
    chosen = [f"{key}={value}" for key, value in SMALL.items()]
    options = {"protocol": "squad", "corpus": "own", "seed": 3}
    run("create_collection", "rules", **options, set=[*chosen, "splits.train=2", "splits.dev=1"])
    for count in (4, 1, 7, 8):
        run("select_seeds", "rules", count=count)
    folds = defaultdict(set)
    for seed in Seed.objects.all():
        folds[seed.payload["group"]].add(seed.fold)
    assert Seed.objects.count() == 20
    assert {len(each) for each in folds.values()} == {1}
    assert len(set.union(*folds.values())) > 1


def test_a_split_that_so_few_seeds_leave_empty_is_named(corpus: Corpus) -> None:
    set_ = [f"{key}={value}" for key, value in SMALL.items()]
    run("create_collection", "rules", protocol="squad", corpus="own", seed=3, set=set_)
    told = StringIO()
    call_command("select_seeds", "rules", count=3, stdout=StringIO(), stderr=told)
    assert "No seed is in dev and test" in told.getvalue()
    told.truncate(0)
    call_command("select_seeds", "rules", count=5, stdout=StringIO(), stderr=told)
    assert "No seed" not in told.getvalue()
    assert len({seed.payload["group"] for seed in Seed.objects.all()}) == 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("question.unanswerable_per_item=6", "must not be more than questions_per_item"),
        ("seeds.min_characters=9000", "must not be more than max_characters"),
        ("answer.redundancy.dev=-1", "answer.redundancy.dev"),
    ],
)
def test_parameters_that_contradict_one_another_are_refused(
    corpus: Corpus, change: str, message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        run("create_collection", "wrong", protocol="squad", corpus="own", set=[change])
    assert not Collection.objects.exists()


def test_the_requester_is_told_where_nothing_would_check_an_answer() -> None:
    usual: Any = get_protocol("squad").parameters()
    assert usual.cautions() == []
    alone = usual.answer.redundancy.model_copy(update={"dev": 0, "test": 0})
    answer = usual.answer.model_copy(update={"redundancy": alone})
    [caution] = usual.model_copy(update={"answer": answer}).cautions()
    assert "dev and test again" in caution


def own_words(number: int) -> list[str]:
    """Return a text of words that no other number has."""
    return [f"w{number}n{place}" for place in range(40)]


def write_pairs(corpus: Corpus) -> None:
    """Add 30 articles of two paragraphs; in every second one a word of one before is changed."""
    for number in range(30):
        article = Article.objects.create(
            corpus=corpus, page_id=100 + number, title=f"Pair {number}", revision_id=1
        )
        section = Section.objects.create(article=article, position=0, level=1, heading="")
        own, copied = own_words(1000 + number), own_words(number // 2)
        if number % 2:
            copied[20] = "changed"
        for place, words in enumerate((own, copied)):
            Paragraph.objects.create(
                article=article, section=section, position=place, text=" ".join(words)
            )


@pytest.mark.parametrize("counts", [(60,), (10, 15, 15)])
def test_paragraphs_of_which_a_word_was_changed_are_in_one_split(counts: tuple[int, ...]) -> None:
    write_pairs(Corpus.objects.create(slug="own", name="Own", language="en", state="ready"))
    options = {"protocol": "squad", "corpus": "own", "seed": 3}
    set_ = ["seeds.min_characters=10", "splits.train=2", "splits.dev=1", "splits.test=1"]
    run("create_collection", "pairs", **options, set=set_)
    for count in counts:
        run("select_seeds", "pairs", count=count)
    articles, pairs = defaultdict(set), defaultdict(set)
    for seed in Seed.objects.all():
        paragraph = seed.seed_paragraphs.get().paragraph
        number = paragraph.article.page_id - 100
        articles[number].add(seed.fold)
        if paragraph.position:
            pairs[number // 2].add(seed.fold)
    assert Seed.objects.count() == sum(counts)
    assert {len(each) for each in (*articles.values(), *pairs.values())} == {1}
    assert set.union(*articles.values()) == {"train", "dev", "test"}
