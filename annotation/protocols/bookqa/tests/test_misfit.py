"""An encyclopaedia is no corpus of books: said when a collection is made, and by seeds."""

from typing import Any

import pytest

from annotation.dashboard.tests.making import make_browser
from collector.models import Collection
from collector.models.accounts import owner
from collector.protocols.creation import create_collection
from collector.protocols.loading import get_protocol
from collector.seeds.selection import misfit_of, select_seeds
from common.actions import ActionError
from tasks.tests.making import NOW, make_corpus

pytestmark = pytest.mark.django_db
FITS = "only a corpus that ingest_books read with their summaries fits"


def test_one_sentence_says_which_corpora_fit(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    corpus, rita = make_corpus(), make_browser()
    rita.force_login(owner())
    given = {"title": "Tales", "protocol": "bookqa", "corpus": corpus.slug, "budget": "10"}
    who = {"requester_name": "Rita", "requester_contact": "rita@example.org"}
    page = rita.post("/collections/new/", {**given, **who})
    assert page.status_code == 400
    assert FITS in page.content.decode()
    assert not Collection.objects.exists()
    made = create_collection(
        "tales",
        get_protocol("bookqa"),
        corpus,
        overrides={},
        seed=1,
        now=NOW,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    with pytest.raises(ActionError, match=FITS):
        select_seeds(made, 5)


def test_books_fit(collection: Collection) -> None:
    assert misfit_of(get_protocol("bookqa"), collection.corpus) == ""
