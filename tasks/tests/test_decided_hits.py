"""A HIT that is paid or rejected hands out no work."""

import pytest

from tasks.models import Lease, PostingState
from tasks.tests.making import consent, make_posting, make_worker, stage_of
from tasks.tests.visiting import open_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(collection):
    worker = make_worker(qualified=(stage_of(collection, "question_qualification"),))
    consent(worker, collection)
    return worker


@pytest.mark.parametrize(
    ("state", "told"),
    [(PostingState.SETTLED, b"paid before"), (PostingState.REJECTED, b"rejected before")],
)
def test_a_hit_that_is_decided_hands_out_no_work(client, collection, ada, soon, state, told):
    posting = make_posting(stage_of(collection, "question"))
    posting.state = state
    posting.save()
    page = open_page(client, posting, "AADA", soon)
    assert told in page.content
    assert b"rita@example.org" in page.content
    assert not Lease.objects.exists()
