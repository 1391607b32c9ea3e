"""An open collection and a browser without cookies, for tests of the worker's pages."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tasks.crowd import marketplace
from tasks.paying import rejections
from tasks.tests.deciding import SOON, make_confirmed, make_fake_marketplace
from tasks.tests.making import NOW, make_collection, write_keys
from tasks.tests.sending import Counter


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


@pytest.fixture
def fake_marketplace(monkeypatch):
    return make_fake_marketplace(monkeypatch)


@pytest.fixture
def paid_late(fake_marketplace):
    return make_collection(slug="paid-late", pay__approve_after_hours=48.0)


@pytest.fixture
def work(paid_late):
    return make_confirmed(paid_late)


@pytest.fixture
def proposal(work):
    return rejections.propose(work.session, "Every answer is copied.", "rita", NOW)


@pytest.fixture
def rejected(proposal, paid_late):
    rejections.confirm(proposal, "It is.", "grace", SOON)
    assert rejections.carry_out(paid_late, SOON) == 1
    proposal.refresh_from_db()
    return proposal


@pytest.fixture
def counter(monkeypatch, tmp_path, settings):
    write_keys(tmp_path, settings)
    found = Counter()
    monkeypatch.setattr(marketplace, "call", found.call)
    monkeypatch.setattr(marketplace, "pages", found.pages)
    return found
