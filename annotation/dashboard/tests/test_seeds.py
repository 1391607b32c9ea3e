"""Tests of the page of seeds."""

import pytest
from django.test import Client

from annotation.dashboard.tests.test_collections import queries
from collector.models import Collection
from tasks.tests.making import make_collection, make_corpus

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/seeds/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection with four seeds and one for the qualification."""
    return make_collection(make_corpus(60), slug="pilot")


def test_without_seeds_it_says_what_they_are(rita: Client, pilot: Collection) -> None:
    for stage in pilot.stages.all():
        stage.units.all().delete()
    pilot.seeds.all().delete()
    page = rita.get(PAGE).content.decode()
    assert "No seeds yet" in page
    assert "is fixed when it is chosen" in page


def test_it_shows_folds_and_real_text(rita: Client, pilot: Collection) -> None:
    page = rita.get(PAGE).content.decode()
    assert "<b>4</b> paragraphs for the main task" in page
    assert "was founded in" in page
    assert "for the qualification" in page


def test_a_fold_can_be_looked_at_alone(rita: Client, pilot: Collection) -> None:
    page = rita.get(PAGE + "?fold=").content.decode()
    assert page.count('<li class="card">') == 1
    assert rita.get(PAGE + "?fold=nothing&page=zzz").status_code == 200


def test_more_are_chosen(rita: Client, pilot: Collection) -> None:
    page = rita.post(PAGE + "choose/", {"count": "6"}, follow=True).content.decode()
    assert "Chosen: 6 more seeds" in page
    assert pilot.seeds.exclude(fold="").count() == 10


@pytest.mark.parametrize("typed", ["", "0", "-3", "many", "1000000000", "²"])
def test_a_number_that_is_none_chooses_nothing(rita: Client, pilot: Collection, typed: str) -> None:
    page = rita.post(PAGE + "choose/", {"count": typed}, follow=True).content.decode()
    assert "Write how many more" in page
    assert pilot.seeds.count() == 5


def test_too_many_choose_none_and_say_how_many_there_are(rita: Client, pilot: Collection) -> None:
    page = rita.post(PAGE + "choose/", {"count": "999"}, follow=True).content.decode()
    assert "The corpus offers" in page
    assert 'value="999"' in page
    assert pilot.seeds.count() == 5


def test_its_queries_do_not_follow_the_seeds(rita: Client, pilot: Collection) -> None:
    one = queries(lambda: rita.get(PAGE))
    rita.post(PAGE + "choose/", {"count": "40"})
    rita.get(PAGE)
    assert queries(lambda: rita.get(PAGE)) == one
