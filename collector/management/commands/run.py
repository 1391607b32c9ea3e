"""Starts Collector and its embedded marketplace in one process."""

import logging
import os
import socket
import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from collector.home_lock import HomeServedError, locked_home
from collector.serving import sample
from collector.serving.job_queue import jobs
from collector.serving.one_process import adopt_moved_hits, prepare, server
from common.command_line import MANAGE
from common.visitors import SAID_AT_START


class Command(BaseCommand):
    """run."""

    help = f"Serve Collector, its jobs and the embedded marketplace. Example: {MANAGE} run"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--sample", action="store_true", help="prepare the sample collections meanwhile"
        )

    def handle(self, **options: Any) -> None:
        """Serve until interrupted; raises CommandError if the home or the port is in use."""
        try:
            with locked_home(settings.HOME, settings.COLLECTOR_URL, settings.PORT):
                self._serve(with_sample=options["sample"])
        except HomeServedError as error:
            raise CommandError(str(error)) from None

    def _serve(self, *, with_sample: bool) -> None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", settings.PORT)) == 0:
                raise CommandError(f"Port {settings.PORT} is taken: set PORT to a free one.")
        prepare()
        if settings.EMBEDDED:
            adopt_moved_hits()
        self.stdout.write(f"Collector          {settings.COLLECTOR_URL}/")
        if settings.EMBEDDED:
            self.stdout.write(f"Workers go to      {settings.MARKETPLACE_URL}/")
        if settings.PASSWORDLESS_SIGN_IN:
            self.stdout.write(SAID_AT_START)
        self.stdout.write("Stop with Ctrl-C.")
        jobs.start()
        if with_sample:
            threading.Thread(target=_prepare_sample, name="sample", daemon=True).start()
        try:
            server(settings.PORT).run()
        finally:
            jobs.stop()


def _prepare_sample() -> None:
    """Prepare the sample while the site is being served; a failure is only logged."""
    try:
        with open(os.devnull, "w") as nowhere:
            sample.prepare_sample(stdout=nowhere)
    except Exception:
        logging.getLogger(__name__).exception("The sample collections could not be prepared.")
