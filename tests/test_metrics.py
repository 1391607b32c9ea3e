"""An operator's view from outside: metrics, and the dashboard and alerts that are made of them."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from collector.serving.metrics import relayed
from common.metrics import metrics_of
from tasks.models import Payment, Submission
from tasks.tests.making import (
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
TOKEN = "n0-0ne-w1ll-gu3ss-th1s-t0ken-of-rita"
PROMETHEUS = {"Authorization": f"Bearer {TOKEN}"}
HOSTS = {"collector": "localhost", "marketplace": "127.0.0.1"}
pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])


@pytest.fixture(autouse=True)
def _asked_anew() -> None:
    """Forget what rows said in another test."""
    for site in HOSTS:
        metrics_of(site)._answers.clear()


@pytest.fixture
def told(settings: Any) -> None:
    """Give both sites a token."""
    settings.COLLECTOR_METRICS_TOKEN = settings.MARKETPLACE_METRICS_TOKEN = TOKEN


def scrape(site: str = "collector") -> dict[str, float]:
    """Return what Prometheus would store, by series."""
    page = Client(headers=PROMETHEUS).get("/metrics", headers={"host": HOSTS[site]})
    assert page.status_code == 200
    lines = (line for line in page.content.decode().splitlines() if not line.startswith("#"))
    return {series: float(value) for series, value in (line.rsplit(" ", 1) for line in lines)}


@pytest.mark.parametrize("site", HOSTS)
def test_nobody_reads_metrics_before_there_is_a_token_or_without_it(
    site: str, settings: Any
) -> None:
    for token, sent in (("", PROMETHEUS), ("", {"Authorization": "Bearer "}), (TOKEN, {})):
        settings.COLLECTOR_METRICS_TOKEN = settings.MARKETPLACE_METRICS_TOKEN = token
        page = Client(headers=sent).get("/metrics", headers={"host": HOSTS[site]})
        assert page.status_code == 404, (token, sent)
        assert b"# HELP" not in page.content


@pytest.mark.usefixtures("told")
def test_rows_say_who_works_and_what_is_owed_and_simulated_work_is_nobodys() -> None:
    stage = stage_of(make_collection(seeds=8), "question")
    gate, now = stage_of(stage.collection, "question_qualification"), timezone.now()
    for person, synthetic in (("AADA", False), ("ABOT", True), ("ABOT2", True)):
        worker = make_worker(person, qualified=(gate,))
        type(worker).objects.filter(pk=worker.pk).update(synthetic=synthetic)
        lease = leases.claim(make_session(worker, make_posting(stage)), stage, now)
        assert lease
        if person != "ABOT":
            submissions.hand_in(lease, questions_for(lease), now, synthetic=synthetic)
    Submission.objects.update(received_at=now - timedelta(minutes=10))
    found = scrape()
    assert found['collector_leases_live{synthetic="no"}'] == 0
    assert found['collector_leases_live{synthetic="yes"}'] == 1
    for synthetic in ("no", "yes"):
        labels = f'{{state="held",synthetic="{synthetic}"}}'
        assert found[f"collector_submissions_open{labels}"] == 1
        assert 600 <= found[f"collector_submissions_oldest_seconds{labels}"] < 700
    for synthetic, number in (("no", 1), ("yes", 1)):
        owed = Payment.objects.filter(worker__synthetic=synthetic == "yes")
        assert owed.count() == number
        series = f'collector_money_owed_cents{{synthetic="{synthetic}"}}'
        assert found[series] == sum(row.amount_cents for row in owed) > 0
    assert found["collector_spent_difference_cents"] == 0
    assert found["collector_rows_unreadable"] == 0


@pytest.mark.usefixtures("told")
def test_how_far_behind_a_backup_is_is_told_where_there_is_one(
    settings: Any, tmp_path: Path
) -> None:
    settings.HOME = tmp_path
    assert not any(series.startswith("collector_backup_stale") for series in scrape())
    now = timezone.now().timestamp()
    drill = {"at": now - 7200, "seconds": 7, "problems": ["it lacks a file."]}
    told = {"as_of": now - 90, "stale_at": now - 30, "behind_bytes": 8, "drill": drill}
    (tmp_path / "backup.json").write_text(json.dumps(told))
    metrics_of("collector")._answers.clear()
    found = scrape()
    assert 90 <= found["collector_backup_age_seconds"] < 120
    assert 7200 <= found["collector_backup_restored_seconds"] < 7300
    assert (found["collector_backup_stale"], found["collector_backup_behind_bytes"]) == (1, 8)
    assert found["collector_backup_problems"] == 2


@pytest.mark.usefixtures("told")
def test_what_cannot_be_asked_is_counted_and_leaves_the_rest(monkeypatch: Any) -> None:
    def fail() -> Any:
        raise DatabaseError("gone")

    first, *others = metrics_of("collector").rows()
    rows = [replace(first, ask=fail), *others]
    monkeypatch.setattr(metrics_of("collector"), "rows", lambda: rows)
    found = scrape()
    assert found["collector_rows_unreadable"] == 1
    assert 'collector_dialogs_live{synthetic="no"}' in found
    assert not any(series.startswith("collector_leases_live") for series in found)


@pytest.mark.usefixtures("told")
def test_pages_are_counted_by_what_answered_them() -> None:
    before = scrape()
    for _ in range(3):
        Client().get("/hit/", headers={"host": "localhost"})
    after = scrape()
    [series] = [
        name
        for name in after
        if name.startswith("collector_http_request_seconds_count") and 'view="hit' in name
    ]
    assert after[series] - before.get(series, 0) == 3


@pytest.mark.usefixtures("told")
def test_the_marketplace_tells_its_own_and_nothing_of_collectors() -> None:
    found = scrape("marketplace")
    assert found["marketplace_ledger_difference_cents"] == 0
    assert 'marketplace_assignments{state="submitted",synthetic="no"}' in found
    assert not any(series.startswith("collector_") for series in found)


def test_a_message_of_a_dialog_is_timed_where_somebody_reads_it(settings: Any) -> None:
    settings.COLLECTOR_METRICS_TOKEN = TOKEN
    before = scrape().get("collector_dialog_relay_seconds_count", 0)
    for token in (TOKEN, ""):
        settings.COLLECTOR_METRICS_TOKEN = token
        relayed.observe(0.004)
    settings.COLLECTOR_METRICS_TOKEN = TOKEN
    assert scrape()["collector_dialog_relay_seconds_count"] == before + 1


COUNTING = """
import sys
from pathlib import Path
from common.metric_files import count_together, counted_together
count_together(Path(sys.argv[1]))
from prometheus_client import Counter
Counter("done", "Done").inc(int(sys.argv[2]))
print(counted_together().decode())
"""


def test_processes_count_together_and_nothing_is_lost_when_one_ends(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        said = subprocess.run(
            [sys.executable, "-c", COUNTING, str(tmp_path), str(number)],
            check=True,
            capture_output=True,
            text=True,
            cwd=DEPLOY.parent,
        ).stdout
    assert "done_total 6.0" in said
    # Two that have ended are one file; the last was still there when it counted.
    assert len(list(tmp_path.glob("*.db"))) == 2


def named(text: str) -> set[str]:
    """Return the metrics that an expression names."""
    return set(re.findall(r"\b((?:collector|marketplace)_[a-z_]+)", text))


def test_the_dashboard_and_the_alerts_name_metrics_that_there_are() -> None:
    known = set().union(*(metrics_of(site).names() for site in HOSTS))
    dashboard = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text("utf-8"))
    shown = [each["expr"] for panel in dashboard["panels"] for each in panel["targets"]]
    rules = yaml.safe_load((DEPLOY / "monitoring" / "alerts.yaml").read_text("utf-8"))
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    for expression in [*shown, *(rule["expr"] for rule in alerts)]:
        assert named(expression), expression
        assert named(expression) <= known, expression
    # What an operator asks for first is shown, and people's numbers are no machine's.
    for subject in ("http_request", "leases", "waiting", "dialogs", "relay", "queue_age", "owed"):
        assert any(subject in expression for expression in shown), subject
    for expression in shown:
        if "money_owed" in expression or "leases_live" in expression:
            assert "synthetic" in expression
    for rule in alerts:
        assert rule["annotations"]["summary"].endswith(".")
    for site in HOSTS:
        assert any(f"absent({site}_" in rule["expr"] for rule in alerts), site
