"""A claim is renewed while its work lasts, where somebody else could see it."""

from threading import Event

import pytest
from django.db import transaction

from common.long_work import renewed


def test_it_is_renewed_until_the_block_ends() -> None:
    seen = Event()
    with renewed(seen.set, 0.001):
        assert seen.wait(10)


@pytest.mark.django_db
def test_within_a_transaction_nothing_waits_for_its_end() -> None:
    seen = Event()
    with transaction.atomic(), renewed(seen.set, 0.001):
        assert not seen.wait(0.05)
