"""What decides the shared part of a work page is all that the part is made of."""

import pytest

from collector.protocols.creation import current_text
from tasks.pages.work_page import DEFAULTS, _frame
from tasks.people.lease_context import stage_context_of
from tasks.tests.making import stage_of

pytestmark = pytest.mark.django_db
FIELDS = ("title", "protocol", "protocol_version", "requester_name", "requester_contact")


@pytest.mark.parametrize("name", [*FIELDS, "ethics_number"])
def test_a_changed_collection_has_another_frame(collection, name):
    before = frame(collection)
    assert frame(collection) == before
    setattr(collection, name, getattr(collection, name) * 2 or "E7")
    collection.save()
    assert frame(collection) != before


def frame(collection):
    stage = stage_of(collection, "question")
    setting = stage_context_of(stage.pk, current_text(collection, "question").pk)
    return _frame(
        setting, reward_cents=400, seen=False, preferences=DEFAULTS, items=(), mode="work"
    )
