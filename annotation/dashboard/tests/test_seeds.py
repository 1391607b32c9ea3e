"""Tests of the page of seeds."""

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.dashboard import seed_views
from annotation.dashboard.tests.making import send
from annotation.dashboard.tests.test_collections import queries
from annotation.templatetags.dashboard_words import counted_as, language_name
from collector.models import Collection
from collector.seeds.selection import LooserThreshold, LooserThresholds
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


def test_sets_of_passages_and_languages_have_their_words() -> None:
    assert counted_as("set of passages", 20) == "sets of passages"
    assert counted_as("set of passages", 1) == "set of passages"
    names = [language_name(code) for code in ("ar", "arz", "de-CH", "simple")]
    assert names == ["Arabic", "Egyptian Arabic", "German", "simple"]


def test_a_fold_can_be_looked_at_alone(rita: Client, pilot: Collection) -> None:
    page = rita.get(PAGE + "?fold=").content.decode()
    assert page.count('<li class="card">') == 1
    assert rita.get(PAGE + "?fold=nothing&page=zzz").status_code == 200


def test_more_are_chosen(rita: Client, pilot: Collection) -> None:
    page = send(rita, PAGE, PAGE + "choose/", {"count": "6"}, follow=True).content.decode()
    assert "Chosen: 6 more seeds" in page
    assert pilot.seeds.exclude(fold="").count() == 10


def test_a_split_without_a_seed_is_named_here_and_before_publishing(
    rita: Client, pilot: Collection
) -> None:
    Collection.objects.update(state="draft")
    pilot.seeds.exclude(fold="").update(fold="train")
    for address in (PAGE, PAGE.replace("seeds/", "publish/")):
        assert "No seed is in dev and test" in rita.get(address).content.decode()


@pytest.mark.parametrize("typed", ["", "0", "-3", "many", "1000000000", "²"])
def test_a_number_that_is_none_chooses_nothing(rita: Client, pilot: Collection, typed: str) -> None:
    page = send(rita, PAGE, PAGE + "choose/", {"count": typed}, follow=True).content.decode()
    assert "Write how many more" in page
    assert pilot.seeds.count() == 5


def test_too_many_choose_none_and_say_how_many_there_are(rita: Client, pilot: Collection) -> None:
    page = send(rita, PAGE, PAGE + "choose/", {"count": "999"}, follow=True).content.decode()
    assert "The corpus offers" in page
    assert 'value="999"' in page
    assert pilot.seeds.count() == 5


def test_too_few_seeds_say_how_many_other_values_would_give_and_where_to_change_them(
    rita: Client, pilot: Collection
) -> None:
    pilot.parameters["seeds"] |= {"min_links": 10, "min_links_in_corpus": 2}
    Collection.objects.filter(pk=pilot.pk).update(parameters=pilot.parameters, state="draft")
    page = send(rita, PAGE, PAGE + "choose/", {"count": "999"}, follow=True).content.decode()
    assert '<th scope="row">Min links</th><td>2: <b>60</b></td>' in page
    assert 'href="/collections/pilot/change/?open=data#seeds.min_links"' in page
    assert (
        'id="seeds.min_links"' in rita.get("/collections/pilot/change/?open=data").content.decode()
    )
    assert "More seeds, by loosening" not in rita.get(PAGE).content.decode()


def test_where_no_single_value_is_enough_those_are_told_that_are_together(
    rita: Client, pilot: Collection
) -> None:
    pilot.parameters["seeds"] |= {
        "min_links": 40,
        "min_links_in_corpus": 40,
        "min_characters": 9,
        "max_characters": 90_000,
    }
    Collection.objects.filter(pk=pilot.pk).update(parameters=pilot.parameters, state="draft")
    page = send(rita, PAGE, PAGE + "choose/", {"count": "20"}, follow=True).content.decode()
    assert "More seeds, by loosening one value" not in page
    together = page.partition("Only together do these give")[2]
    assert '<th scope="row">Min links</th>' in together
    assert '<th scope="row">Min links in corpus</th><td>0: <b>' in together
    assert "characters" not in together, "what is in vain is not loosened"
    page = rita.get(PAGE + "?count=9000").content.decode()
    assert "No values give" in page


def test_a_value_that_is_no_number_is_told_in_words(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    Collection.objects.filter(pk=pilot.pk).update(state="draft")
    rows = [
        LooserThreshold("seeds.words", [], 3),
        LooserThreshold("seeds.told_by", "anything", 1200),
    ]
    monkeypatch.setattr(seed_views, "find_looser", lambda *_: LooserThresholds(rows[:1], rows))
    page = rita.get(PAGE + "?count=1200").content.decode()
    assert "<td>none: <b>3</b></td>" in page
    assert "<td>anything: <b>1,200</b></td>" in page


def test_seeds_whose_links_lead_nowhere_are_warned_of(
    rita: Client, pilot: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "links that lead nowhere" not in rita.get(PAGE).content.decode()
    pilot.parameters["seeds"]["min_links_in_corpus"] = 1
    pilot.save()
    assert "links that lead nowhere" in rita.get(PAGE).content.decode()
    call_command("select_seeds", "pilot", "--count", "1")
    assert "links that lead nowhere" in capsys.readouterr().err


def test_its_queries_do_not_follow_the_seeds(rita: Client, pilot: Collection) -> None:
    one = queries(lambda: rita.get(PAGE))
    send(rita, PAGE, PAGE + "choose/", {"count": "40"})
    rita.get(PAGE)
    assert queries(lambda: rita.get(PAGE)) == one
