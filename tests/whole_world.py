"""Both halves in one process: the real pages, the real marketplace over its wire, at any hour."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.utils import timezone

from marketplace import clock
from marketplace.people.accounts import keys_of, open_requester, write_keys
from marketplace.tests.boto import ENDPOINT, mturk_client
from tasks.crowd import requester_api


class World:
    """A marketplace with one requester's account, its wire inside this process."""

    def __init__(self) -> None:
        self.requester = open_requester("Rita", "rita@lab.example", 10**9, clock.now())
        self.keys = keys_of(self.requester, ENDPOINT, clock.now())
        self.wire = mturk_client(self.keys)


@contextmanager
def whole_world(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[World]:
    """Put both halves under one clock, and the wire into this process."""
    real = timezone.now
    settings.MARKETPLACE_OPEN_SIGN_IN = True
    settings.MARKETPLACE_BASE_URL = ""
    settings.MARKETPLACE_DELIVER_EVENTS = False
    settings.MTURK_ENDPOINT_URL = ENDPOINT
    settings.SUBMIT_ORIGINS = [ENDPOINT]
    with clock.shifted(), TemporaryDirectory() as folder:
        began = real() - clock.now()
        monkeypatch.setattr(timezone, "now", lambda: clock.now() + began)
        world = World()
        # A file of its own: pages keep the secret of the file that they have read.
        settings.MTURK_KEYS_FILE = Path(folder, "requester.json")
        write_keys(world.keys, settings.MTURK_KEYS_FILE)
        monkeypatch.setattr(requester_api, "_client", lambda *_: world.wire)
        yield world
