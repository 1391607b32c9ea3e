"""Seeds are chosen by the parameters that hold at that moment."""

import pytest

from collector.models import Collection
from collector.seeds.selection import select_seeds
from common.actions import ActionError
from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db


def test_seeds_follow_a_parameter_that_was_changed_since_the_collection_was_read() -> None:
    read_before = make_collection()
    changed = Collection.objects.get()
    changed.parameters["seeds"]["min_characters"] = 5_000
    changed.save()
    with pytest.raises(ActionError, match="offers 0 more seeds"):
        select_seeds(read_before, 1)
