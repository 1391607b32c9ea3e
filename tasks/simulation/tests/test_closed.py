"""Simulated workers find no work in what is closed, and are told the command that opens it."""

import pytest
from django.core.management import CommandError, call_command

from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("state", "command"),
    [("finished", "finish_collection pilot --reopen"), ("paused", "publish pilot")],
)
def test_what_opens_it_is_named(monkeypatch: pytest.MonkeyPatch, state: str, command: str) -> None:
    monkeypatch.setattr("tasks.management.commands.simulate.check_reachable", lambda: None)
    collection = make_collection(slug="pilot")
    collection.state = state
    collection.save()
    with pytest.raises(CommandError, match=rf": \.venv/bin/python manage\.py {command}$"):
        call_command("simulate", "pilot")
