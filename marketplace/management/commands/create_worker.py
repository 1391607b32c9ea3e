"""Opens a worker's account with a personal link."""

import os
from argparse import ArgumentParser
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError

from common.command_line import MANAGE, Printout, ResultCommand
from marketplace import clock
from marketplace.configuration import local_address, own_address
from marketplace.environment import LOOPBACK
from marketplace.people.accounts import open_worker
from marketplace.people.requirements import is_country


class Command(ResultCommand):
    """`create_worker Ada`."""

    help = (
        "Open a worker's account and print the worker's id and personal link.\n"
        "The link signs them in; it is shown here once and cannot be read back.\n\nExample:\n"
        f"  {MANAGE} create_worker Ada --country GB --base-url https://work.lab.example"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("name", help="how the site addresses the worker")
        parser.add_argument("--country", default="", help="two letters, for HITs of some countries")
        parser.add_argument(
            "--base-url", default="", help="address of the site, if it is not MARKETPLACE_BASE_URL"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Open the account and print its link."""
        country = options["country"].upper()
        if country and not is_country(country):
            raise CommandError("Write the country as two letters, like DE or US.")
        base = (options["base_url"] or own_address() or local_address()).rstrip("/")
        domain = os.environ.get("DOMAIN")
        if domain and not options["base_url"] and urlsplit(base).hostname in LOOPBACK:
            # A link is shown once: a wrong one is lost.
            raise CommandError(
                f"Workers reach this site at {domain}, and its whole address is not known here: "
                "give it with --base-url."
            )
        worker, token = open_worker(options["name"], country, clock.now())
        link = f"{base}/enter/{token}/"
        return {"worker": worker.worker_id, "link": link}, [f"{worker.worker_id} {link}"]
