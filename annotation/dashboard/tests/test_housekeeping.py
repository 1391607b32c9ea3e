"""Tests of copying a collection, putting it away, and dropping what was never published."""

import pytest
from django.test import Client

from annotation.dashboard.tests.making import send
from collector.models import Collection, CollectionState, Seed
from collector.seeds.selection import select_seeds
from tasks.tests.making import make_collection, make_corpus

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/"


@pytest.fixture
def draft(rita: Client) -> Collection:
    """Return a collection that was never published, with five seeds."""
    collection = make_collection(make_corpus(60), slug="pilot")
    for stage in collection.stages.all():
        stage.units.all().delete()
    Collection.objects.update(state=CollectionState.DRAFT)
    collection.refresh_from_db()
    return collection


def state_is(state: str) -> None:
    Collection.objects.update(state=state)


def test_a_draft_is_dropped_when_its_short_name_is_typed(rita: Client, draft: Collection) -> None:
    page = rita.post(f"{PAGE}keep/drop/", {"slug": "pilots"}, follow=True).content.decode()
    assert "Type its short name, pilot, to drop it." in page
    page = rita.post(f"{PAGE}keep/drop/", {"slug": "pilot"}, follow=True).content.decode()
    assert "and its seeds are gone" in page
    assert not Collection.objects.exists()
    assert not Seed.objects.exists()


@pytest.mark.parametrize("state", ["collecting", "paused", "finished"])
def test_what_was_published_is_never_dropped(rita: Client, draft: Collection, state: str) -> None:
    state_is(state)
    assert "Drop this collection" not in rita.get(f"{PAGE}keep/").content.decode()
    page = rita.post(f"{PAGE}keep/drop/", {"slug": "pilot"}, follow=True).content.decode()
    assert "It was published already. Finish and archive it instead" in page
    form = {"seen": "5"}
    page = rita.post(f"{PAGE}seeds/drop/", form, follow=True).content.decode()
    assert "It was published already. Its seeds are part of the data now." in page
    assert Seed.objects.count() == 5


def test_a_dropped_seed_is_not_chosen_again(rita: Client, draft: Collection) -> None:
    seed = draft.seeds.exclude(fold="").first()
    assert seed is not None
    assert f'name="seed" value="{seed.key}"' in rita.get(f"{PAGE}seeds/").content.decode()
    rita.post(f"{PAGE}seeds/drop/", {"seed": seed.key})
    select_seeds(draft, 50)
    assert not draft.seeds.filter(key=seed.key).exists()
    send(rita, f"{PAGE}seeds/", f"{PAGE}seeds/drop/")
    assert not draft.seeds.exists()
    select_seeds(draft, 56)
    assert draft.seeds.filter(key=seed.key).exists()


def test_a_copy_has_the_parameters_and_texts_and_chooses_the_same_seeds(
    rita: Client, draft: Collection
) -> None:
    state_is("finished")
    page = rita.post(f"{PAGE}keep/duplicate/", {"slug": "pilot", "title": "x"}, follow=True)
    assert "There is already a collection" in page.content.decode()
    page = rita.post(f"{PAGE}keep/duplicate/", {"slug": "../x", "title": "x"}, follow=True)
    assert "A short name has up to 80 letters" in page.content.decode()
    sent = {"slug": "second", "title": "Second"}
    page = rita.post(f"{PAGE}keep/duplicate/", sent, follow=True)
    assert "Copied: the same parameters and texts." in page.content.decode()
    again = rita.post(f"{PAGE}keep/duplicate/", sent)
    assert again["Location"] == "/collections/second/seeds/"
    made = Collection.objects.get(slug="second")
    assert (made.state, made.parameters, made.random_seed) == (
        "draft",
        draft.parameters,
        draft.random_seed,
    )
    assert made.pseudonym_key != draft.pseudonym_key
    names = set(draft.texts.values_list("name", "markdown"))
    assert set(made.texts.values_list("name", "markdown")) == names
    assert list(made.stages.values_list("name")) == list(draft.stages.values_list("name"))
    assert not made.seeds.exists()


def test_an_archived_collection_leaves_the_lists_until_it_is_taken_out(
    rita: Client, draft: Collection
) -> None:
    state_is("collecting")
    page = rita.post(f"{PAGE}keep/archive/", follow=True).content.decode()
    assert "People can work on it still: finish it first" in page
    state_is("finished")
    page = rita.post(f"{PAGE}keep/archive/", follow=True).content.decode()
    assert 'href="?archived=yes">Archived: 1' in page
    for listing in ("/", "/collections/"):
        assert draft.title not in rita.get(listing).content.decode().replace("“Pilot”", "")
    assert draft.title in rita.get("/collections/?archived=yes").content.decode()
    rita.post(f"{PAGE}keep/archive/", {"out": "yes"})
    assert draft.title in rita.get("/collections/").content.decode()
    rita.post(f"{PAGE}keep/archive/")
    # What can hand out work again is in the lists again.
    rita.post(f"{PAGE}reopen/")
    draft.refresh_from_db()
    assert (draft.state, draft.archived_at) == ("paused", None)
