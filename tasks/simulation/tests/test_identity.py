"""A simulated worker is marked before it does anything, and is never taken for a person."""

import pytest

from tasks.models import Worker
from tasks.simulation.browser import StuckError
from tasks.simulation.identity import introduce, mark_synthetic
from tasks.tests.making import NOW, make_worker

pytestmark = pytest.mark.django_db


def test_a_newcomer_is_marked_and_known_again() -> None:
    first = introduce("AMALLORY", synthetic=True, now=NOW)
    assert introduce("AMALLORY", synthetic=True, now=NOW) == first
    assert Worker.objects.get(pk=first).synthetic


def test_a_person_is_never_made_a_simulated_worker() -> None:
    ada = make_worker("AADA")
    with pytest.raises(StuckError, match="use another --seed"):
        introduce("AADA", synthetic=True, now=NOW)
    ada.refresh_from_db()
    assert not ada.synthetic


def test_who_types_real_work_is_marked_when_they_add_to_it() -> None:
    worker = introduce("AGRACE", synthetic=False, now=NOW)
    assert not Worker.objects.get(pk=worker).synthetic
    mark_synthetic(worker)
    assert Worker.objects.get(pk=worker).synthetic


def test_an_address_without_a_worker_is_refused() -> None:
    with pytest.raises(StuckError, match="names no worker"):
        introduce("", synthetic=True, now=NOW)
