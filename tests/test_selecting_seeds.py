"""Seeds are chosen by the parameters that hold at that moment, and are the same everywhere."""

import ast
import random
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from collector.candidates.candidate_sets import pools_of
from collector.candidates.tests.making import make_pairs, make_towns
from collector.models import Article, CandidateSet, Collection, Corpus, Paragraph, Section
from collector.protocols.creation import create_collection
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import SEEDS
from collector.seeds.selection import cautions_of, select_seeds
from common.actions import ActionError
from tasks.tests.making import NOW, make_collection, make_corpus
from tests.test_architecture import ROOT, sources

pytestmark = pytest.mark.django_db

# In an order that no language has: of these English has A b, _x, aB, apple, Äpfel, Zebra.
TITLES = ["A b", "Zebra", "_x", "aB", "apple", "Äpfel"]
LOOSEST: dict[str, dict[str, Any]] = {
    "squad": {"min_characters": 1, "max_per_article": 1},
    "iirc": {"min_characters": 1, "min_links": 1, "min_links_in_corpus": 0},
    "quac": {
        "category_keywords": [],
        "persons_by": "anything",
        "min_incoming_links": 0,
        "min_paragraphs": 1,
        "min_tokens": 1,
        "min_words_per_sentence": 0,
    },
}
# Texts whose order is drawn from, numbered or written to files.
NAMES = ("title", "name", "key", "document", "file_name", "external_id")


class Unshuffled(random.Random):
    """Leaves what it should shuffle in its order."""

    def shuffle(self, x: Any) -> None:
        """Do nothing."""


@pytest.fixture
def _english() -> None:
    """Make PostgreSQL sort as a server with the locale of a country does."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for table, column in (("article", "title"), ("candidateset", "name")):
                cursor.execute(
                    f'ALTER TABLE collector_{table} ALTER {column} TYPE varchar COLLATE "en-x-icu"'
                )


@pytest.mark.parametrize("protocol", sorted(LOOSEST))
@pytest.mark.usefixtures("_english")
def test_the_same_seed_draws_from_the_same_order_on_every_database(protocol: str) -> None:
    corpus = Corpus.objects.create(slug="own", name="Own", language="en", state="ready")
    for number, title in enumerate(sorted(TITLES, key=len)):
        article = Article.objects.create(
            corpus=corpus, page_id=number, title=title, revision_id=1, kind="article"
        )
        lead = Section.objects.create(article=article, position=0, level=0, heading="")
        part = Section.objects.create(article=article, position=1, level=2, heading="Part")
        for position, section in enumerate((lead, part)):
            Paragraph.objects.create(
                article=article,
                section=section,
                position=position,
                kind="paragraph",
                text=f"Here is {title}.",
                n_links=position,
            )
    of = get_protocol(protocol)
    parameters = of.parameters()
    seeds = parameters.seeds.model_copy(update=LOOSEST[protocol])
    parameters = parameters.model_copy(update={"seeds": seeds})
    drawn = of.part(SEEDS).candidates(corpus, parameters, Unshuffled())
    last = [each.paragraphs[-1] for each in islice(drawn, len(TITLES))]
    found = Paragraph.objects.select_related("article").in_bulk(last)
    assert [found[pk].article.title for pk in last] == TITLES


@pytest.mark.usefixtures("_english")
def test_a_page_of_two_sets_comes_from_the_same_one_on_every_database(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    pilot = make_pairs(make_towns(tmp_path))
    quern = Article.objects.get(title="Quern")
    for name in ("apple", "Zebra"):
        made = CandidateSet.objects.create(
            collection=pilot,
            role="bridge",
            name=name,
            source="mine",
            state="kept",
            created_at=NOW,
            decided_at=NOW,
            decided_by="Rita",
        )
        made.members.create(article=quern)
    assert set(pools_of(pilot).bridges.values()) == {"Zebra"}


def test_nothing_that_is_drawn_or_released_is_ordered_by_a_databases_collation() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node.args)}"
        for path in sources("collector", "annotation")
        if "dashboard" not in path.parts
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "order_by"
        for each in node.args
        if isinstance(each, ast.Constant) and str(each.value).split("__")[-1] in NAMES
    ]
    assert found == [], "order by CodePoints(…), as databases sort texts by their own locale"


def test_seeds_follow_a_parameter_that_was_changed_since_the_collection_was_read() -> None:
    read_before = make_collection()
    changed = Collection.objects.get()
    changed.parameters["seeds"]["min_characters"] = 5_000
    changed.save()
    with pytest.raises(ActionError, match="offers 0 more seeds"):
        select_seeds(read_before, 1)


@pytest.mark.parametrize(
    ("protocol", "sentence"),
    [
        ("iirc", "1,003 are needed (those of the qualification included). Ask"),
        ("squad", "1,000 are needed. Ask"),
        ("rag", "2,000 are needed (1,000 for each of natural and question). Ask"),
    ],
)
def test_too_few_seeds_are_counted_as_they_are_needed(protocol: str, sentence: str) -> None:
    collection = create_collection(
        "pilot",
        get_protocol(protocol),
        make_corpus(),
        overrides={},
        seed=7,
        now=NOW,
        title="Pilot",
        budget_cents=100_000,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    with pytest.raises(ActionError) as refused:
        select_seeds(collection, 1000)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("protocol", "language", "told"),
    [
        ("squad", "en", []),
        ("squad", "ar", []),
        ("squad", "zh", ["Chinese has few blanks between words"]),
        ("rag", "ja", ["Japanese has few blanks between words"]),
        (
            "bookqa",
            "th",
            ["The corpus is in Thai; these know English alone: METEOR", "Thai has few blanks"],
        ),
        ("hotpotqa", "de", ["The corpus is in German; these know English alone: advice on"]),
        ("hotpotqa", "simple", []),
    ],
)
def test_what_a_protocol_cannot_do_in_a_language_is_said_when_a_collection_is_begun(
    protocol: str, language: str, told: list[str]
) -> None:
    corpus = make_corpus()
    corpus.language = language
    corpus.save()
    said = StringIO()
    options = {"protocol": protocol, "corpus": corpus.slug, "contact": "rita@example.org"}
    call_command("create_collection", "pilot", **options, stdout=StringIO(), stderr=said)
    sentences = [line for line in said.getvalue().splitlines() if "at publishing" not in line]
    assert len(sentences) == len(told)
    for sentence, beginning in zip(sentences, told, strict=True):
        assert sentence.startswith(beginning)
    assert set(sentences) <= set(cautions_of(Collection.objects.get(slug="pilot")))
