"""Starts Collector and its embedded marketplace in one process."""

import socket
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from collector.embedded import jobs
from collector.site import prepare, server


class Command(BaseCommand):
    """run."""

    help = "Serve Collector, its jobs and the embedded marketplace. Example: manage.py run"

    def handle(self, **options: Any) -> None:
        """Serve until interrupted."""
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", settings.PORT)) == 0:
                raise CommandError(f"Port {settings.PORT} is taken: set PORT to a free one.")
        prepare()
        self.stdout.write(f"Collector          {settings.COLLECTOR_URL}/")
        if settings.EMBEDDED:
            self.stdout.write(f"Workers go to      {settings.MARKETPLACE_URL}/")
        self.stdout.write("Stop with Ctrl-C.")
        jobs.start()
        try:
            server(settings.PORT).run()
        finally:
            jobs.stop()
