"""Tests of the name that the marketplace's people and HITs are stored under."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from tasks.crowd import marketplace
from tasks.models import Identity, Posting, Session, Worker
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
)

OLD = "http://127.0.0.1:8000"
name_it = import_module("tasks.migrations.0006_embedded_environment").name_it


def test_the_embedded_marketplace_has_the_same_name_on_every_port(settings: Any) -> None:
    for port in (8000, 8001):
        settings.MTURK_ENDPOINT_URL = f"http://127.0.0.1:{port}"
        assert marketplace.environment() == "embedded"
    settings.EMBEDDED = False
    assert marketplace.environment() == "http://127.0.0.1:8001"


@pytest.mark.django_db
def test_what_was_stored_under_a_port_is_found_under_the_name() -> None:
    ada = make_worker("AADA")
    make_session(ada, make_posting(stage_of(make_collection(), "question")))
    for model in (Posting, Session, Identity):
        model.objects.update(environment=OLD)
    name_it(apps, None)
    for model in (Posting, Session, Identity):
        assert model.objects.get().environment == "embedded"


@pytest.mark.django_db
def test_who_was_met_under_two_ports_goes_on_as_the_first() -> None:
    people = [make_worker(f"P{number}") for number in range(2)]
    Identity.objects.update(environment=OLD)
    again = Worker.objects.create(created_at=NOW)
    Identity.objects.create(
        worker=again, provider="mturk", environment="http://localhost:8001", person="P0"
    )
    name_it(apps, None)
    named = Identity.objects.filter(environment="embedded").values_list("worker", flat=True)
    assert set(named) == {worker.pk for worker in people}


@pytest.mark.django_db
def test_another_marketplace_keeps_its_address(settings: Any) -> None:
    make_worker()
    Identity.objects.update(environment="https://market.example")
    name_it(apps, None)
    settings.EMBEDDED = False
    Identity.objects.update(environment=OLD)
    name_it(apps, None)
    assert Identity.objects.get().environment == OLD
