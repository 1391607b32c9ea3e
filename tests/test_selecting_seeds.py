"""Seeds are chosen by the parameters that hold at that moment."""

import pytest

from collector.models import Collection
from collector.protocols.creation import create_collection
from collector.protocols.loading import get_protocol
from collector.seeds.selection import select_seeds
from common.actions import ActionError
from tasks.tests.making import NOW, make_collection, make_corpus

pytestmark = pytest.mark.django_db


def test_seeds_follow_a_parameter_that_was_changed_since_the_collection_was_read() -> None:
    read_before = make_collection()
    changed = Collection.objects.get()
    changed.parameters["seeds"]["min_characters"] = 5_000
    changed.save()
    with pytest.raises(ActionError, match="offers 0 more seeds"):
        select_seeds(read_before, 1)


@pytest.mark.parametrize(
    ("protocol", "sentence"),
    [
        ("iirc", "1,003 are needed (those of the qualification included). Ask"),
        ("squad", "1,000 are needed. Ask"),
        ("rag", "2,000 are needed (1,000 for each of natural and question). Ask"),
    ],
)
def test_too_few_seeds_are_counted_as_they_are_needed(protocol: str, sentence: str) -> None:
    collection = create_collection(
        "pilot",
        get_protocol(protocol),
        make_corpus(),
        overrides={},
        seed=7,
        now=NOW,
        title="Pilot",
        budget_cents=100_000,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    with pytest.raises(ActionError) as refused:
        select_seeds(collection, 1000)
    assert sentence in str(refused.value)
