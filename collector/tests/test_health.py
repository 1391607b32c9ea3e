"""The health page tells whether work is being done."""

import pytest
from django.test import Client

from collector import health

pytestmark = pytest.mark.django_db


def test_it_is_well_while_database_and_jobs_answer(monkeypatch):
    monkeypatch.setattr(health.jobs, "is_alive", lambda: True)
    answer = Client(HTTP_HOST="localhost").get("/health")
    assert answer.status_code == 200
    assert answer.json()["database"] is True


def test_jobs_that_have_died_are_reported(monkeypatch, settings):
    settings.CELERY_BROKER_URL = "memory://localhost/"
    monkeypatch.setattr(health.jobs, "is_alive", lambda: False)
    answer = Client(HTTP_HOST="localhost").get("/health")
    assert answer.status_code == 503
    assert answer.json()["jobs"] is False
