"""A worker on another host comes in by an invitation and does a HIT through `make serve`."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import expect, sync_playwright

from tests import process_groups, services
from tests.browser.conftest import ARGUMENTS, PROTOCOLS
from tests.browser.person import Person
from tests.browser.test_forms import WRITE
from tests.migrated_databases import databases
from tests.rehearsals.network_hosts import certificate, ip
from tests.serving import ROOT, START_SECONDS, Instance

pytestmark = pytest.mark.django_db(transaction=True)
HERE, THERE = "10.231.77.1", "10.231.77.2"


@pytest.fixture
def host() -> Iterator[str]:
    """Return the name of a second host: a network of its own, joined to this one by a cable."""
    name = f"worker{os.getpid()}"
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("A second host needs root and `ip netns` (iproute2)")
    try:
        ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"This machine lets nobody make a second host: {error.stderr.strip()}")
    try:
        near = f"v{os.getpid()}"
        ip("link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("addr", "add", f"{HERE}/30", "dev", near)
        ip("link", "set", near, "up")
        ip("-n", name, "addr", "add", f"{THERE}/30", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", name, "link", "set", device, "up")
        yield name
    finally:
        ip("netns", "delete", name)


class Served(Instance):
    """An instance served by `make serve` on one host name, with or without a certificate."""

    def __init__(self, home: Path, port: int, settings: dict[str, str]) -> None:
        super().__init__(home, port, {"DOMAIN": HERE, **settings})
        scheme = "https" if "TLS_CERTIFICATE" in settings else "http"
        self.collector_url = f"{scheme}://{HERE}:{port}"
        self.marketplace_url = f"{scheme}://{HERE}:{port + 1}"

    def start(self) -> None:
        """Serve; return once everything is up, with the settings that serving has chosen."""
        self._server = process_groups.begin(
            ["make", "serve"],
            env=self.environment,
            cwd=ROOT,
            stdout=self.log("server"),
            stderr=subprocess.STDOUT,
        )
        log = self.home / "server.log"
        until = time.monotonic() + START_SECONDS
        while "Stop with" not in log.read_text():
            assert self._server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        for line in (self.home / "serve.env").read_text().splitlines():
            name, _, value = line.partition("=")
            self.environment[name] = value.strip("'")

    @property
    def market(self) -> Instance:
        """Return the marketplace's own side, to call functions on its database."""
        other = {**self.environment, "DJANGO_SETTINGS_MODULE": "marketplace.settings"}
        return Instance(self.home, int(self.environment["PORT"]), other)


def tls(folder: Path) -> dict[str, str]:
    """Return the settings that serve with a certificate which this machine's programs believe."""
    made, key = map(str, certificate(folder, HERE))
    return {"TLS_CERTIFICATE": made, "TLS_KEY": key, "AWS_CA_BUNDLE": made}


def invitation(base: str) -> str:
    """Return the personal link of a new worker (runs on the marketplace's own side)."""
    from django.db import transaction

    from marketplace import clock
    from marketplace.models import InvitationDelivery
    from marketplace.people.accounts import open_worker
    from marketplace.people.invitations import invite, link_of
    from marketplace.router import DATABASE

    with transaction.atomic(using=DATABASE):
        ada, _ = open_worker("Ada", "", clock.now())
        (letter,) = invite([ada], InvitationDelivery.LINKS, "Grace", clock.now())
    return link_of(letter.token, base)


@pytest.mark.parametrize("encrypted", [True, False], ids=["TLS", "plain"])
def test_a_worker_on_another_host_does_a_hit(host: str, tmp_path: Path, encrypted: bool) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("Serving is rehearsed on PostgreSQL: run `make rehearse`")
    port = services.free_port(services.SERVED)
    with databases("second_host") as settings, services.redis() as redis:
        more = tls(tmp_path) if encrypted else {}
        more["COLLECTOR_PROTOCOLS"] = str(PROTOCOLS)
        served = Served(tmp_path, port, {**settings, **more, "REDIS_URL": redis})
        try:
            served.start()
            open_collection(served)
            market = served.market
            link = market.call(
                "tests.rehearsals.test_second_host:invitation", served.marketplace_url
            )
            market.close()
            work(served, host, link)
            wait_for_pay(served)
        finally:
            served.close()
            served.stop(15)


def open_collection(served: Instance) -> None:
    """Publish a collection of the small protocol."""
    served.call("tests.browser.rows:read_sample")
    chosen = ("--protocol", "headline", "--corpus", "quarnsey", "--budget", "20")
    served.run("create_collection", "lines", *chosen)
    served.run("select_seeds", "lines", "--count", "2")
    served.run("publish", "lines")


def work(served: Instance, host: str, link: str) -> None:
    """Open the link in a browser on the second host, and hand in two headlines."""
    program = served.home / "browser-there"
    browser = os.environ.get("COLLECTOR_CHROMIUM") or services.chromium()
    program.write_text(f'#!/bin/sh\nexec ip netns exec {host} {browser} "$@"\n')
    program.chmod(0o755)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=program, args=[*ARGUMENTS, "--no-proxy-server"]
        )
        # The certificate is its own authority; everything else of TLS is as usual.
        ada = Person("Ada", served, chromium.new_context(ignore_https_errors=True, locale="en-GB"))
        ada.page.goto(link)
        ada.page.get_by_role("main").get_by_role("button").click()
        expect(ada.page.get_by_role("heading", name="HITs for you")).to_be_visible()
        frame = ada.begin(WRITE)
        for number, action in enumerate(("next", "submit")):
            frame.fill("#field-headline", f"Headline {number}")
            ada.wait_until_saved()
            ada.click(f"[data-action={action}]")
        ada.expect_receipt()
        assert ada.mistakes == []
        check_cookies(ada)
        chromium.close()


def check_cookies(person: Person) -> None:
    """The frame sets none; what it is sent is the marketplace's, because cookies know no ports."""
    headers = [
        header
        for response in person.visits()
        for header in (*response.headers_array(), *response.request.headers_array())
    ]
    assert "set-cookie" not in {header["name"].lower() for header in headers}
    sent = [header["value"] for header in headers if header["name"].lower() == "cookie"]
    assert {each.partition("=")[0] for line in sent for each in line.split("; ")} == {
        "marketplace_csrf",
        "marketplace_session",
    }


def handed_in() -> tuple[int, int]:
    """Return how many submissions there are, and how many are confirmed (runs at Collector)."""
    from tasks.models import Submission

    return Submission.objects.count(), Submission.objects.exclude(confirmed_at=None).count()


def wait_for_pay(served: Instance) -> None:
    """Wait until the jobs have heard of the work from the marketplace."""
    for _ in range(120):
        if served.call("tests.rehearsals.test_second_host:handed_in") == [1, 1]:
            return
        time.sleep(0.5)
    raise AssertionError((served.home / "server.log").read_text())
