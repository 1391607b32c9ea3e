"""Whoever asks cannot answer: where nobody else has come, the pages say what is waited for."""

from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests.making import make_browser
from annotation.protocols.rag.tests.conftest import WRITER
from collector.models import Collection
from collector.models.accounts import owner
from tasks.people import eligibility
from tests.page_workers import Person

pytestmark = pytest.mark.django_db
TOLD = "stages wait for another person: those who came so far may not do what is left of them"


def pages(collection: Collection, browser: Client) -> str:
    """Return the list and the page of the collection, once the jobs have looked who may do what."""
    eligibility.update_eligibility(collection, list(collection.stages.select_related("collection")))
    paths = ("/collections/", f"/collections/{collection.slug}/")
    return "".join(browser.get(path).content.decode() for path in paths)


def test_work_that_waits_for_a_second_person_is_told(asked: Collection, settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    browser = make_browser()
    browser.force_login(owner())
    Person(WRITER, asked).enter("find")
    page = pages(asked, browser)
    assert '/collections/sought/people/">2 stages waiting for another person</a>' in page
    assert f"2 {TOLD}" in page
    Person("AGRACE", asked).enter("find")
    page = pages(asked, browser)
    # She is at all that there is to find, and has all to read before her.
    assert '/collections/sought/people/">1 stage waiting for another person</a>' in page
