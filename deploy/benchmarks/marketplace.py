"""A requester's calls, in server CPU time, beside a bare Django view returning the same bytes.

The bare view (hello.py) reads the same signed request and returns the bytes of our own reply, under
the marketplace's own settings and middleware, in the same server (granian, one worker). The bare
site is that view without any middleware. The three take turns, so that what else the machine does
slows them alike; each rate is the best of all rounds.
"""

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from deploy.benchmarks.serving import ROOT, Served, measure, served
from tests import services

REQUESTS = 480
TURNS = 3
# As many as a page may have.
HITS = 100
# What the bare view is served with.
SETTINGS = """
from marketplace.settings import *
ROOT_URLCONF = "deploy.benchmarks.hello"
"""
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", database="marketplace", verbosity=0)
from deploy.benchmarks.posted import prepare
prepare({folder!r}, "http://localhost")
"""
NEW_HIT = {
    "Title": "Ask questions about a passage",
    "Description": "Read ten paragraphs and ask a question about each.",
    "Reward": "4.50",
    "AssignmentDurationInSeconds": 3600,
    "LifetimeInSeconds": 86400,
    "MaxAssignments": 3,
}


def main() -> None:
    """Print calls per server-CPU second and what they cost, on PostgreSQL and on SQLite."""
    with tempfile.TemporaryDirectory() as folder, services.postgresql() as server:
        for name, url in {
            "PostgreSQL": f"{server.rpartition('/')[0]}/postgres",
            "SQLite": f"sqlite:///{folder}/marketplace.sqlite3",
        }.items():
            print(
                f"{name:24}{'per CPU s':>12}{'bare view':>12}{'ratio':>8}{'site':>12}{'ratio':>8}"
            )
            _compare(folder, url)


def _compare(folder: str, url: str) -> None:
    environment = {
        "MARKETPLACE_DATABASE_URL": url,
        "MARKETPLACE_DATA_DIR": folder,
        "DJANGO_SETTINGS_MODULE": "marketplace.settings",
        "PYTHONPATH": str(ROOT),
    }
    script = PREPARE.format(folder=folder)
    subprocess.run(
        [sys.executable, "-c", script], check=True, env={**os.environ, **environment}, cwd=ROOT
    )
    posted = json.loads((Path(folder) / "posted.json").read_text())
    calls: dict[str, dict[str, Any]] = {
        "GetAccountBalance": {},
        "GetHIT": {"HITId": posted["hit_id"]},
        "ListAssignmentsForHIT": {"HITId": posted["hit_id"], "MaxResults": 100},
        "ListHITs": {"MaxResults": HITS},
        "CreateHIT": {**NEW_HIT, "Question": posted["question"]},
    }
    same = Path(folder) / "same"
    same.mkdir(exist_ok=True)
    (Path(folder) / "bare_settings.py").write_text(SETTINGS)
    bare = {"PYTHONPATH": f"{ROOT}:{folder}", "SAME_BYTES": str(same)}
    bare_view = {**environment, **bare, "DJANGO_SETTINGS_MODULE": "bare_settings"}
    with served("marketplace.asgi:application", environment) as site:
        with httpx.Client(base_url=site.url, timeout=30) as client:
            post = calling("/", posted, site, "CreateHIT", calls["CreateHIT"])
            for number in range(HITS):
                post(client, number)
            for name, parameters in calls.items():
                reply = calling("/", posted, site, name, parameters)(client, 0)
                (same / name).write_bytes(reply.content)
        with (
            served("marketplace.asgi:application", bare_view) as view,
            served("deploy.benchmarks.hello:application", bare) as hello,
        ):
            for name, parameters in calls.items():
                _compare_call(posted, [site, view, hello], name, parameters)


def _compare_call(
    posted: dict[str, str], servers: list[Served], name: str, parameters: dict[str, Any]
) -> None:
    rates = [0.0] * len(servers)
    for _ in range(TURNS):
        for number, server in enumerate(servers):
            path = f"/same/{name}" if number else "/"
            call = calling(path, posted, server, name, parameters)
            rates[number] = max(rates[number], measure(server, call, REQUESTS).rate)
    ours, view, hello = rates
    print(
        f"{name:24}{ours:12.0f}{view:12.0f}{view / ours:8.1f}{hello:12.0f}{hello / ours:8.1f}",
        flush=True,
    )


def calling(
    path: str, posted: dict[str, str], server: Served, name: str, parameters: dict[str, Any]
) -> Callable[[httpx.Client, int], httpx.Response]:
    """Return the request to measure: one call posted to `path`, signed anew each time."""

    def call(client: httpx.Client, number: int) -> httpx.Response:
        headers, body = signed(posted, server.url, name, parameters)
        return client.post(path, content=body, headers=headers)

    return call


def signed(
    posted: dict[str, str], url: str, name: str, parameters: dict[str, Any]
) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a call, signed as boto3 signs it."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    body = json.dumps(parameters).encode()
    request = AWSRequest(
        method="POST",
        url=f"{url}/",
        data=body,
        headers={
            "X-Amz-Target": f"MTurkRequesterServiceV20170117.{name}",
            "Content-Type": "application/x-amz-json-1.1",
            "amz-sdk-invocation-id": str(uuid.uuid4()),
        },
    )
    credentials = Credentials(posted["access_key_id"], posted["secret_access_key"])
    SigV4Auth(credentials, "mturk-requester", "us-east-1").add_auth(request)
    return dict(request.headers.items()), body


if __name__ == "__main__":
    main()
