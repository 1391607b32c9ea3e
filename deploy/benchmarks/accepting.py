"""A worker accepts a HIT and opens it, in server CPU time of the marketplace, beside a hello.

What Collector's page then costs is told by pages.py as "HIT accepted and opened".
"""

import json
import tempfile
from pathlib import Path

import httpx

from deploy.benchmarks.pages import greeted, in_process
from deploy.benchmarks.serving import ROOT, measure, served
from tests import services

REQUESTS = 300
# What a form's page gives a browser; the marketplace compares the cookie with the field.
FORM_TOKEN = "a" * 32
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", database="marketplace", verbosity=0)
from deploy.benchmarks.posted import prepare_visitors
prepare_visitors({folder!r}, {number})
"""


def main() -> None:
    """Print what accepting costs the marketplace, and the page around the task."""
    with tempfile.TemporaryDirectory() as folder, services.postgresql() as server:
        environment = {
            "MARKETPLACE_DATABASE_URL": f"{server.rpartition('/')[0]}/postgres",
            "MARKETPLACE_DATA_DIR": folder,
            "DJANGO_SETTINGS_MODULE": "marketplace.settings",
            "PYTHONPATH": str(ROOT),
        }
        in_process(PREPARE.format(folder=folder, number=REQUESTS), environment)
        visitors = json.loads((Path(folder) / "visitors.json").read_text())
        pages: dict[int, str] = {}

        def accept(client: httpx.Client, number: int) -> httpx.Response:
            answer = client.post(
                f"/hits/{visitors[number]['hit']}/accept/",
                data={"csrfmiddlewaretoken": FORM_TOKEN},
                headers=_cookies(visitors[number]["session"]),
            )
            pages[number] = answer.headers["location"]
            return answer

        def open_it(client: httpx.Client, number: int) -> httpx.Response:
            return client.get(pages[number], headers=_cookies(visitors[number]["session"]))

        with (
            served("deploy.benchmarks.hello:application", {"PYTHONPATH": str(ROOT)}) as hello,
            served("marketplace.asgi:application", environment) as site,
        ):
            found = {
                "accept": (greeted(hello), measure(site, accept, REQUESTS, 302)),
                "page around the task": (greeted(hello), measure(site, open_it, REQUESTS)),
            }
    print(f"{'':28}{'CPU ms':>10}{'hello':>10}{'of hello':>12}{'p99 ms':>10}")
    for name, (reference, speed) in found.items():
        share, slowest = speed.rate / reference.rate, speed.slowest_seconds * 1000
        costs = f"{1000 / speed.rate:10.2f}{1000 / reference.rate:10.2f}"
        print(f"{name:28}{costs}{share:12.2f}{slowest:10.0f}")


def _cookies(session: str) -> dict[str, str]:
    return {"Cookie": f"marketplace_session={session}; marketplace_csrf={FORM_TOKEN}"}


if __name__ == "__main__":
    main()
