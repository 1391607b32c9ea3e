"""Tests of the page that looks for what a crash has left."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import make_browser, make_lease
from collector.models import User
from common import checkup
from common.checkup import Check
from tasks.lifecycle.checkup import CHECKS as ALL
from tasks.models import Unit
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/doctor/"


def _cannot_look() -> list[str]:
    raise ValueError("a mistake of ours")


COUNTERS = [check for check in ALL if check.name == "units"]
STRANGE = (
    Check("strange rows", "Somebody wrote them by hand.", "", lambda: ["row 7"]),
    Check("broken checks", "This one fails.", "does nothing", _cannot_look),
)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(checkup.time, "sleep", lambda seconds: None)
    settings.CHECKUPS = [f"{__name__}.COUNTERS"]


def ask(browser: Client, what: str, status: int = 200) -> str:
    reply = browser.post(PAGE, {"do": what})
    assert reply.status_code == status
    return reply.text


def test_what_is_found_is_shown_and_mended_when_asked_to(rita: Client) -> None:
    unit = make_lease(stage_of(make_collection(), "question")).unit
    unit.leases.all().delete()
    assert f"unit {unit.pk}" not in rita.get(PAGE).text
    found = ask(rita, "look")
    assert f"<li>unit {unit.pk}: taken 1, 0 are" in found
    assert "Mending counts its leases and submissions anew." in found
    assert Unit.objects.get(pk=unit.pk).taken == 1
    assert f"<b>Mended</b> unit {unit.pk}" in ask(rita, "mend")
    assert Unit.objects.get(pk=unit.pk).taken == 0
    assert "Nothing is wrong, by 1 check." in ask(rita, "look")


def test_the_page_says_until_when_all_is_kept_or_why_not(
    rita: Client, settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path
    assert "No backup of this site is made." in rita.get(PAGE).text
    now = timezone.now().timestamp()
    drill = {"at": now - 60, "seconds": 6.9, "problems": []}
    told = {"as_of": now, "stale_at": now + 60, "behind_bytes": 0, "problem": "", "drill": drill}
    (tmp_path / "backup.json").write_text(json.dumps(told))
    page = rita.get(PAGE).text
    assert "All is kept until " in page
    assert "a copy was restored in an empty place in 6.9 s" in page
    (tmp_path / "backup.json").write_text(json.dumps({**told, "stale_at": now - 1}))
    assert "deploy.backup does not run: start it." in rita.get(PAGE).text


def test_what_no_button_mends_is_left_to_a_person(rita: Client, settings: Any) -> None:
    settings.CHECKUPS = [f"{__name__}.STRANGE"]
    found = ask(rita, "look")
    assert "<li>row 7</li>" in found
    assert "A person has to mend this." in found
    assert "<p>Looked for: " in found
    assert "It could not be looked at: ValueError: a mistake of ours" in found
    assert "Mend what can be mended" not in found
    assert "<b>Left</b> row 7" in ask(rita, "mend")


def test_on_a_server_only_who_set_it_up_looks(settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    ada = User.objects.create_user("ada", password="a quiet evening")
    browser = make_browser()
    assert browser.get(PAGE).status_code == 302
    browser.force_login(ada)
    assert "manage.py doctor" in browser.get(PAGE).text
    assert "checks" not in ask(browser, "mend", 403)
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    assert "Nothing is wrong" in ask(browser, "look")
