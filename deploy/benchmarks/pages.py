"""A worker's page and a submission, in server CPU time, beside a Django hello and oTree."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from deploy.benchmarks import otree
from deploy.benchmarks.peers import peer
from deploy.benchmarks.serving import ROOT, Served, Speed, measure, served
from tests import services

REQUESTS = 300
# oTree is asked less often: it is slow, and its session takes a while to make.
PEER_REQUESTS = 120
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from deploy.benchmarks.work import prepare
prepare({folder!r}, {number})
"""
Work = list[dict[str, Any]]


def main() -> None:
    """Print requests per server-CPU second and their ratios to the references."""
    with prepared(REQUESTS) as (environment, work):
        # In turns, so that what else the machine does slows both alike.
        with (
            served("deploy.benchmarks.hello:application", {"PYTHONPATH": str(ROOT)}) as hello,
            served("collector.asgi:pages", environment) as site,
        ):
            ours = {
                name: (greeted(hello), measure(site, request, REQUESTS))
                for name, request in requests_of(work).items()
            }
        get, post = _peer(environment, work) or (None, None)
    print(f"{'':28}{'per CPU s':>12}{'hello':>12}{'of hello':>12}{'× oTree':>12}{'p99 ms':>10}")
    for name, (reference, speed) in ours.items():
        _line(name, speed, reference, post if name == "submission POST" else get)
    for name, theirs in {"oTree, page GET": get, "oTree, form POST": post}.items():
        if theirs:
            _line(name, theirs, reference, None)


def greeted(hello: Served) -> Speed:
    """Return how fast the reference is just now."""
    return measure(hello, lambda client, _: client.get("/"), REQUESTS)


def _line(name: str, speed: Speed, hello: Speed, theirs: Speed | None) -> None:
    times = f"{speed.rate / theirs.rate:12.1f}" if theirs else " " * 12
    slowest = speed.slowest_seconds * 1000
    rates = f"{speed.rate:12.0f}{hello.rate:12.0f}{speed.rate / hello.rate:12.2f}"
    print(f"{name:28}{rates}{times}{slowest:10.0f}")


@contextmanager
def prepared(number: int, script: str = PREPARE) -> Iterator[tuple[dict[str, str], Work]]:
    """Yield a site's environment, on PostgreSQL, and the work that so many requests ask for."""
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
        in_process(script.format(folder=folder, number=number), environment)
        yield environment, json.loads((Path(folder) / "work.json").read_text())


def in_process(script: str, environment: dict[str, str]) -> None:
    """Run a script in a Python of its own."""
    command = [sys.executable, "-c", script]
    subprocess.run(command, check=True, env={**os.environ, **environment}, cwd=ROOT)


def speeds(site: Served, work: Work) -> dict[str, Speed]:
    """Return how fast each kind of request is answered, made once with each of `work`."""
    return {name: measure(site, request, len(work)) for name, request in requests_of(work).items()}


def requests_of(work: Work) -> dict[str, Callable[[httpx.Client, int], httpx.Response]]:
    """Return each kind of request, made with one of `work` by its number."""
    return {
        "HIT accepted and opened": lambda client, n: client.get(work[n]["arrival"]),
        "HIT page, first time": lambda client, n: client.get(work[n]["page"]),
        "HIT page, reloaded": lambda client, n: client.get(work[n]["page"]),
        "submission POST": lambda client, n: submit(client, work[n]),
    }


def submit(client: httpx.Client, one: dict[str, Any]) -> httpx.Response:
    """Hand in one person's work as their page does."""
    token = {"Authorization": f"Bearer {one['token']}"}
    return client.post("/hit/submit", json={"data": one["data"]}, headers=token)


def _peer(environment: dict[str, str], work: Work) -> tuple[Speed, Speed] | None:
    python = peer("otree")
    if python is None:
        return None
    folder = Path(environment["COLLECTOR_HOME"]) / "otree"
    database = f"{environment['DATABASE_URL'].rpartition('/')[0]}/template1"
    texts = [f"Place {n} was founded in {1200 + n} by people of two places." for n in range(10)]
    form = otree.form_of(work[0]["data"])
    with otree.site(python, folder, database, texts) as server:
        pages = otree.pages_of(server, PEER_REQUESTS)
        get = measure(server, lambda client, n: client.get(pages[n]), PEER_REQUESTS)
        post = measure(
            server, lambda client, n: client.post(pages[n], data=form), PEER_REQUESTS, 302
        )
    return get, post


if __name__ == "__main__":
    main()
