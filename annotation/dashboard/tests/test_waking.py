"""What a requester does, on a page or by a command, is looked after at once."""

import runpy
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from collector.models import Collection
from tasks.tests.making import make_collection
from tasks.work import due_work

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a published collection that was looked at once, beside another."""
    made = make_collection(slug="pilot")
    for collection in (made, make_collection(made.corpus, slug="other")):
        due_work.look_after(collection, timezone.now(), lambda: False)
    assert due_work.due(timezone.now()) == []
    return made


def test_what_is_pressed_wakes_the_collection_that_it_is_about(
    rita: Client, pilot: Collection
) -> None:
    rita.get("/collections/pilot/")
    assert due_work.due(timezone.now()) == []
    rita.post("/collections/pilot/pause/")
    assert due_work.due(timezone.now()) == [pilot.pk]


def test_an_address_of_no_collection_wakes_none(rita: Client, pilot: Collection) -> None:
    assert rita.post("/collections/nobody/pause/").status_code == 404
    assert due_work.due(timezone.now()) == []


def test_a_command_wakes_all_collections_and_none_where_there_are_no_tables(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_jobs_look = runpy.run_path(str(Path(settings.BASE_DIR) / "manage.py"))["have_jobs_look"]
    have_jobs_look()
    assert len(due_work.due(timezone.now())) == 2

    def missing() -> None:
        raise OperationalError("no such table: collector_collection")

    monkeypatch.setattr(due_work, "wake_all", missing)
    have_jobs_look()
