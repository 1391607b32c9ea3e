"""The main job, end to end: from the sample corpus to a released dataset."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from collector import sample
from collector.site import prepare, serving


class Command(BaseCommand):
    """demo."""

    help = (
        "Import the sample corpus, launch a small collection on the embedded marketplace, let "
        "simulated workers do every HIT through the real pages, release. Example: manage.py demo"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--out", default="", help="folder of the release")

    def handle(self, **options: Any) -> None:
        """Walk the whole way and print the report and the path last."""
        began = time.monotonic()
        chosen = sample.plan()
        slug = chosen["finished"]["slug"]
        out = Path(options["out"] or settings.BASE_DIR / "releases" / slug)
        prepare()
        try:
            with serving(settings.PORT):
                sample.read_corpus(chosen["corpus"], stdout=self.stdout)
                sample.open_collection(chosen["corpus"], chosen["finished"], stdout=self.stdout)
                sample.finish_collection(chosen["finished"], out, stdout=self.stdout)
        except OSError as error:
            raise CommandError(str(error)) from None
        call_command("report", slug, stdout=self.stdout)
        self.stdout.write(
            f"From nothing to a dataset in {time.monotonic() - began:.0f} seconds, by simulated "
            f"workers through the real pages.\n{out}/"
        )
