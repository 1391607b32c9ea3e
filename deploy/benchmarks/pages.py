"""A worker's page and a submission, in server CPU time, beside a Django hello on one server."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from deploy.benchmarks.serving import ROOT, Served, served
from tests import services

REQUESTS = 300
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from deploy.benchmarks.work import prepare
prepare({folder!r}, {number})
"""


def main() -> None:
    """Print requests per server-CPU second and their ratios to the hello."""
    with tempfile.TemporaryDirectory() as folder, services.postgresql() as server:
        environment = {
            "COLLECTOR_HOME": folder,
            "DATABASE_URL": f"{server.rpartition('/')[0]}/postgres",
            "MTURK_ENDPOINT_URL": "http://127.0.0.1:9",
            "MTURK_KEYS_FILE": f"{folder}/requester.json",
            "MARKETPLACE_URL": "http://127.0.0.1:9",
            "DJANGO_SETTINGS_MODULE": "collector.settings",
            "PYTHONPATH": str(ROOT),
        }
        script = PREPARE.format(folder=folder, number=REQUESTS)
        subprocess.run(
            [sys.executable, "-c", script], check=True, env={**os.environ, **environment}, cwd=ROOT
        )
        work = json.loads((Path(folder) / "work.json").read_text())
        with served("deploy.benchmarks.hello:application", {"PYTHONPATH": str(ROOT)}) as hello:
            reference = measure(hello, lambda client, _: client.get("/"))
        with served("collector.wsgi:application", environment) as site:
            first = measure(site, lambda client, n: client.get(work[n]["page"]))
            again = measure(site, lambda client, n: client.get(work[n]["page"]))
            posted = measure(site, lambda client, n: _submit(client, work[n]))
    print(f"{'':24}{'per CPU s':>12}{'of hello':>12}{'p99 ms':>10}")
    for name, (rate, slowest) in {
        "Django hello": reference,
        "HIT page, first time": first,
        "HIT page, reloaded": again,
        "submission POST": posted,
    }.items():
        print(f"{name:24}{rate:12.0f}{rate / reference[0]:12.2f}{slowest * 1000:10.0f}")


def _submit(client: httpx.Client, one: dict[str, Any]) -> httpx.Response:
    return client.post(
        "/hit/submit",
        json={"data": one["data"]},
        headers={"Authorization": f"Bearer {one['token']}"},
    )


def measure(
    server: Served, request: Callable[[httpx.Client, int], httpx.Response]
) -> tuple[float, float]:
    """Return requests per CPU second of the server, and the 99th percentile in seconds."""
    with httpx.Client(base_url=server.url, timeout=30) as client:
        times = []
        warm = REQUESTS // 10
        for number in range(REQUESTS):
            if number == warm:
                before = server.cpu_seconds()
            began = time.perf_counter()
            answer = request(client, number)
            times.append(time.perf_counter() - began)
            assert answer.status_code == 200, answer.text[:500]
        used = server.cpu_seconds() - before
    return (REQUESTS - warm) / used, statistics.quantiles(times[warm:], n=100)[98]
