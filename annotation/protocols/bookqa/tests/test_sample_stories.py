"""The stories of the sample are books like others: what `make demo` asks about."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from collector.models import Book, Collection, Corpus
from collector.protocols.loading import all_protocols
from collector.serving import sample
from tests.page_workers import run

pytestmark = pytest.mark.django_db
CHAPTERS = {"The Summer Flag": 6, "The Last Ferry": 3, "The Runaway Stone": 3}


@pytest.fixture
def chosen() -> dict[str, Any]:
    """Return what the demo collects, its stories read in."""
    chosen = sample.demos(sample.read_plan())["bookqa"]
    sample.read_corpus(chosen["corpus"], stdout=StringIO(), processes=1)
    return chosen


def test_every_protocol_has_a_demo() -> None:
    known = {protocol.name for protocol in all_protocols()}
    assert sample.demos(sample.read_plan()).keys() == known
    with pytest.raises(CommandError, match=f"Known: {', '.join(sorted(known))}"):
        call_command("demo", protocol="nothing")


def test_the_stories_have_chapters_passages_summaries_and_questions(chosen: dict[str, Any]) -> None:
    corpus = Corpus.objects.get(slug=chosen["corpus"]["slug"])
    assert (corpus.counts["books"], corpus.counts["summaries"]) == (3, 3)
    assert corpus.counts["questions"] == 26
    for book in Book.objects.select_related("article"):
        assert book.chapters.count() == CHAPTERS[book.article.title]
        assert book.passages.count() >= 8
        assert book.text.startswith("CHAPTER I.")
        assert book.text.endswith(".")
        assert book.front.startswith(book.article.title.upper())
        assert not book.back.strip()


def test_each_story_is_a_split_of_the_demo(chosen: dict[str, Any]) -> None:
    changed = [f"{key}={value}" for key, value in chosen["parameters"].items()]
    slug = chosen["slug"]
    run("create_collection", slug, protocol="bookqa", corpus=chosen["corpus"]["slug"], set=changed)
    assert run("select_seeds", slug, count=chosen["seeds"]) == {"train": 1, "dev": 1, "test": 1}
    cents = sum(run("estimate", slug)["stages"].values())
    assert Collection.objects.get().corpus.licence_name == "CC0 1.0"
    assert cents < 100 * chosen["budget"]
