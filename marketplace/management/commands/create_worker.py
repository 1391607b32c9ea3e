"""Opens a worker's account with a personal link."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from marketplace import clock
from marketplace.accounts import open_worker
from marketplace.management.commands.create_requester import DEFAULT_ENDPOINT


class Command(BaseCommand):
    """`create_worker Ada`."""

    help = (
        "Open a worker's account and print the worker's id and personal link.\n"
        "The link signs them in; it is shown here once and cannot be read back.\n\n"
        "  create_worker Ada --country GB --base-url https://work.lab.example"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.add_argument("name", help="how the site addresses the worker")
        parser.add_argument("--country", default="", help="two letters, for HITs of some countries")
        parser.add_argument("--base-url", default=DEFAULT_ENDPOINT, help="address of the site")

    def handle(self, *args: Any, **options: Any) -> None:
        """Open the account and print its link."""
        worker, token = open_worker(options["name"], options["country"].upper(), clock.now())
        base = options["base_url"].rstrip("/")
        self.stdout.write(f"{worker.worker_id} {base}/enter/{token}/")
