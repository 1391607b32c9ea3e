"""A requester's calls, in server CPU time, beside a bare Django view returning the same bytes.

The bare view (hello.py) reads the same signed request and returns the bytes of our own reply: a
Django site of its own without middleware or database, in the same server (granian, one worker).
The marketplace is as it is served, middleware and all; both rates are the best of several rounds.
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

REQUESTS = 1200
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
            print(f"{name:30}{'per CPU s':>12}{'bare view':>12}{'ratio':>8}")
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
        "CreateHIT": {**NEW_HIT, "Question": posted["question"]},
    }
    same = Path(folder) / "same"
    same.mkdir(exist_ok=True)
    bare = {"PYTHONPATH": str(ROOT), "SAME_BYTES": str(same)}
    with served("marketplace.wsgi:application", environment) as site:
        with httpx.Client(base_url=site.url, timeout=30) as client:
            for name, parameters in calls.items():
                reply = calling("/", posted, site, name, parameters)(client, 0)
                (same / name).write_bytes(reply.content)
        # One right after the other: what else the machine does then slows both.
        with served("deploy.benchmarks.hello:application", bare) as hello:
            for name, parameters in calls.items():
                call = calling("/", posted, site, name, parameters)
                rate = measure(site, call, REQUESTS).rate
                call = calling(f"/same/{name}", posted, hello, name, parameters)
                reference = measure(hello, call, REQUESTS).rate
                print(f"{name:30}{rate:12.0f}{reference:12.0f}{reference / rate:8.1f}", flush=True)


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
