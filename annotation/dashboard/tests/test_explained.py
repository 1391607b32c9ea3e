"""A requester who has never met a HIT is told what it is, where the word stands first."""

import re

import pytest
from django.test import Client

from annotation.dashboard.tests.making import make_empty_submission, make_submission
from tasks.tests.making import make_collection, make_posting, stage_of

pytestmark = pytest.mark.django_db
PAGES = (
    *("/", "/collections/", "/collections/new/", "/collections/pilot/"),
    *(f"/collections/pilot/{page}" for page in ("now/", "change/", "money/", "finish/")),
    "/collections/pilot/workers/1/",
)


@pytest.mark.parametrize("address", PAGES)
def test_a_hit_is_explained_once_where_a_page_first_names_it(rita: Client, address: str) -> None:
    pilot = make_collection(slug="pilot")
    make_posting(stage_of(pilot, "question"))
    make_submission(stage_of(pilot, "question"))
    make_empty_submission(pilot)
    page = rita.get(address).content.decode()
    explained = re.findall(r'<abbr title="human intelligence task: [^"]+">HITs?</abbr>', page)
    assert len(explained) == 1
    before = re.sub(r"<(script|style|title).*?</\1>|<[^>]*>", " ", page.partition("<abbr")[0])
    assert not re.search(r"\bHITs?\b", before)
