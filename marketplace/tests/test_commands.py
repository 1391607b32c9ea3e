"""The host's commands."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from common.storable import NotStorable
from marketplace.models import AccessKey, Payout, Requester, Worker
from marketplace.people.accounts import RequesterKeys
from marketplace.tests.boto import mturk_client
from marketplace.tests.visitor import Visitor


def test_a_requester_is_opened_once(tmp_path: Path) -> None:
    path = tmp_path / "home" / "keys.json"
    options = {"keys_file": str(path), "endpoint_url": "http://127.0.0.1", "balance": "12.34"}
    call_command("create_requester", "Rita", contact="rita@lab.example", **options)
    first = json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600
    assert set(first) == {
        "endpoint_url",
        "access_key_id",
        "secret_access_key",
        "entry_secret",
        "requester_name",
    }
    assert mturk_client(RequesterKeys(**first)).get_account_balance()["AvailableBalance"] == "12.34"
    call_command("create_requester", "Rita", **options)
    assert json.loads(path.read_text()) == first
    path.unlink()
    options["payment_terms"] = "Bank transfer on the 15th."
    call_command("create_requester", "Rita", **options | {"endpoint_url": "https://m.example"})
    assert Requester.objects.get().payment_terms == "Bank transfer on the 15th."
    assert Requester.objects.get().contact == "rita@lab.example"
    assert json.loads(path.read_text()) == first | {"endpoint_url": "https://m.example"}
    assert (Requester.objects.count(), AccessKey.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("notes", "holds something else: give the keys another file"),
        ("[1]", "holds something else"),
        (None, "holds the keys of 'Rita': give those of 'Ann' another file"),
    ],
)
def test_a_file_that_is_not_the_requester_s_is_never_overwritten(
    tmp_path: Path, content: str | None, named: str
) -> None:
    path = tmp_path / "keys.json"
    if content is None:
        call_command("create_requester", "Rita", keys_file=str(path))
    else:
        path.write_text(content)
    before = path.read_text()
    with pytest.raises(CommandError, match=named):
        call_command("create_requester", "Ann", keys_file=str(path))
    assert path.read_text() == before
    assert not Requester.objects.filter(name="Ann").exists()


def test_keys_that_another_marketplace_has_given_are_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    call_command("create_requester", "Rita", keys_file=str(path))
    AccessKey.objects.all().delete()
    before = path.read_text()
    with pytest.raises(CommandError, match="this marketplace has not given: name the database"):
        call_command("create_requester", "Rita", keys_file=str(path))
    assert path.read_text() == before
    assert not AccessKey.objects.exists()


@pytest.mark.parametrize("name", ["", "  ", "A\0da", "A" * 500])
def test_a_worker_without_a_name_that_can_be_kept_is_not_opened(name: str) -> None:
    with pytest.raises(NotStorable, match="cannot be kept"):
        call_command("create_worker", name)
    assert not Worker.objects.exists()


def test_a_link_that_leads_nowhere_is_not_made(
    settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOMAIN", "lab.example")
    settings.MARKETPLACE_BASE_URL = "http://127.0.0.1:8000"
    with pytest.raises(
        CommandError, match=r"reach this site at lab\.example.* give it with --base"
    ):
        call_command("create_worker", "Ada")
    assert not Worker.objects.exists()
    call_command("create_worker", "Ada", base_url="https://lab.example")
    assert "https://lab.example/enter/" in capsys.readouterr().out


def test_the_keys_name_the_marketplace_s_own_address(tmp_path: Path, settings: Any) -> None:
    path = tmp_path / "keys.json"
    call_command("create_requester", "Rita", keys_file=str(path))
    assert json.loads(path.read_text())["endpoint_url"] == "http://127.0.0.1:8000"
    settings.MARKETPLACE_BASE_URL = "https://work.lab.example/"
    call_command("create_requester", "Rita", keys_file=str(path))
    assert json.loads(path.read_text())["endpoint_url"] == "https://work.lab.example"


def test_a_worker_is_opened_with_a_link(
    capsys: pytest.CaptureFixture[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", "9123")
    call_command("create_worker", "Ada")
    assert capsys.readouterr().out.split()[1].startswith("http://127.0.0.1:9123/enter/")
    call_command("create_worker", "Grace", country="gb", base_url="https://m.example/")
    worker_id, link = capsys.readouterr().out.split()
    settings.MARKETPLACE_BASE_URL = "https://work.lab.example"
    call_command("create_worker", "Ida", json=True)
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"worker", "link"}
    assert told["link"].startswith("https://work.lab.example/enter/")
    with pytest.raises(CommandError, match="two letters"):
        call_command("create_worker", "Eve", country="UK")
    assert Worker.objects.get(worker_id=worker_id).country == "GB"
    page = Visitor().get(link.removeprefix("https://m.example"))
    assert "Continue as Grace" in page.content.decode()


def test_a_payout_is_recorded(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=assignment["AssignmentId"])
    paid = {"method": "cash", "reference": "1", "date": date(2026, 11, 20)}
    call_command("record_payout", ada.worker.worker_id, "4.50", **paid)
    assert Payout.objects.get().amount_cents == 450
    with pytest.raises(CommandError, match="There is no worker 'ANOBODY'"):
        call_command("record_payout", "ANOBODY", "1.00", method="cash", reference="2")
