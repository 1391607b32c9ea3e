"""Tests of the words workers read."""

import pytest
from django.test import Client

from annotation.dashboard.tests.test_collections import queries
from collector.models import Collection
from collector.protocols.creation import MAX_CHARACTERS
from tasks.tests.making import NOW, make_collection

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/texts/consent/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection with its first texts."""
    return make_collection(slug="pilot")


def save(rita: Client, markdown: str, version: int = 1) -> str:
    """Return the page after saving."""
    form = {"markdown": markdown, "version": str(version)}
    return rita.post(PAGE, form, follow=True).content.decode()


def test_it_leads_to_the_consent(rita: Client, pilot: Collection) -> None:
    assert rita.get("/collections/pilot/texts/")["Location"] == PAGE


def test_it_is_shown_as_workers_read_it(rita: Client, pilot: Collection) -> None:
    page = rita.get(PAGE).content.decode()
    assert "Rita" in page
    assert "{requester_name}" not in page
    assert "Version 1" in page
    assert "Human performance" in page
    # Pay and minutes are each stage's own, and its instructions say them.
    differs = "What stands in braces differs by stage"
    assert "{pay}" in page
    assert differs in page
    assert differs not in rita.get("/collections/pilot/texts/answer/").content.decode()


def test_a_change_is_a_new_version_and_the_old_one_stays(rita: Client, pilot: Collection) -> None:
    page = save(rita, "# New words\r\n\r\nAsk {requester_name}.")
    assert "Saved as a new version" in page
    assert "<h2>New words</h2>" in page
    newest = pilot.texts.filter(name="consent").latest("version")
    assert (newest.version, newest.markdown) == (2, "# New words\n\nAsk {requester_name}.")
    old = rita.get(f"{PAGE}1/").content.decode()
    assert "This is version 1." in old
    assert "<h2>New words</h2>" not in old


def test_markup_in_a_text_stays_text(rita: Client, pilot: Collection) -> None:
    assert "<script>alert" not in save(rita, "<script>alert(1)</script> words")


@pytest.mark.parametrize(
    ("markdown", "sentence"),
    [
        (" \n", "Write the text"),
        ("x" * (MAX_CHARACTERS + 1), "50,000 are the most"),
    ],
)
def test_a_text_that_is_none_is_refused(
    rita: Client, pilot: Collection, markdown: str, sentence: str
) -> None:
    assert sentence in save(rita, markdown)
    assert pilot.texts.filter(name="consent").count() == 1


def test_an_unchanged_text_makes_no_version(rita: Client, pilot: Collection) -> None:
    assert "Nothing is changed yet" in save(rita, pilot.texts.get(name="consent").markdown)
    assert pilot.texts.filter(name="consent").count() == 1


def test_a_text_whose_answer_was_lost_is_sent_again(rita: Client, pilot: Collection) -> None:
    for _ in range(2):
        assert "Saved as a new version" in save(rita, "Words of Rita", version=1)
    assert pilot.texts.filter(name="consent").count() == 2


def test_a_text_changed_meanwhile_loses_nobody_s_words(rita: Client, pilot: Collection) -> None:
    save(rita, "Words of Rita")
    page = save(rita, "Words of somebody else", version=1)
    assert "Somebody saved version 2 meanwhile" in page
    assert "Words of somebody else" in page
    assert pilot.texts.filter(name="consent").count() == 2


@pytest.mark.parametrize("path", ["nothing/", "consent/9/"])
def test_an_unknown_text_is_nowhere(rita: Client, pilot: Collection, path: str) -> None:
    assert rita.get(f"/collections/pilot/texts/{path}").status_code == 404


def test_a_collection_without_texts_has_none_to_show(rita: Client, pilot: Collection) -> None:
    pilot.texts.all().delete()
    assert rita.get("/collections/pilot/texts/").status_code == 404


def test_its_queries_do_not_follow_the_versions(rita: Client, pilot: Collection) -> None:
    one = queries(lambda: rita.get(PAGE))
    for version in range(2, 32):
        pilot.texts.create(
            name="consent", version=version, markdown=f"Version {version}", created_at=NOW
        )
    assert queries(lambda: rita.get(PAGE)) == one
