"""An open collection and a browser without cookies, for tests of the worker's pages."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tasks.tests.making import make_collection, write_keys


@pytest.fixture
def collection(tmp_path, settings):
    write_keys(tmp_path, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    return make_collection()


@pytest.fixture
def client():
    return Client(HTTP_HOST="localhost")


@pytest.fixture
def soon():
    return timezone.now() + timedelta(hours=2)
