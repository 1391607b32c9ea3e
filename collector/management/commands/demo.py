"""Runs every step once, from the sample corpus to a released dataset."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from collector.home_lock import HomeServedError, locked_home
from collector.serving import sample
from collector.serving.one_process import prepare, serving
from common.command_line import MANAGE


class Command(BaseCommand):
    """demo."""

    help = (
        "Import the sample corpus, launch a small collection on the embedded marketplace, let "
        f"simulated workers do every HIT through the real pages, release. Example: {MANAGE} demo"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--out", default="", help="folder of the release")
        parser.add_argument("--protocol", default="", help="another than the usual one")

    def handle(self, **options: Any) -> None:
        """Run every step, then print the report and the path of the release."""
        began = time.monotonic()
        plan = sample.read_plan()
        demos = sample.demos(plan)
        chosen = demos.get(options["protocol"]) if options["protocol"] else plan["finished"]
        if chosen is None:
            known = ", ".join(sorted(demos))
            raise CommandError(f"There is no demo of {options['protocol']!r}. Known: {known}.")
        slug = chosen["slug"]
        out = Path(options["out"] or settings.BASE_DIR / "releases" / slug)
        try:
            with locked_home(settings.HOME, settings.COLLECTOR_URL, settings.PORT):
                prepare()
                with serving(settings.PORT):
                    sample.read_corpus(chosen["corpus"], stdout=self.stdout)
                    sample.open_collection(chosen, stdout=self.stdout)
                    sample.finish_collection(chosen, out, stdout=self.stdout)
        except (HomeServedError, OSError) as error:
            raise CommandError(str(error)) from None
        call_command("report", slug, stdout=self.stdout)
        sample.show_release(chosen, out, stdout=self.stdout)
        self.stdout.write(
            f"From nothing to a dataset in {time.monotonic() - began:.0f} seconds, by simulated "
            f"workers through the real pages.\n{out}/"
        )
