"""Brings a list of people in as workers."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from common.command_line import MANAGE
from common.spreadsheet import UploadError, text_of
from marketplace import clock
from marketplace.people.worker_import import Outcome, Report, import_workers


class Command(BaseCommand):
    """`import_workers people.csv --apply`."""

    help = (
        "Import workers from a CSV: name, mail, mturk_id, prolific_id, language, country,\n"
        "qualifications (like 'Spring class; Reader=85'), notes, approved_before,\n"
        "percent_approved_before. Without --apply it only reports, row by row, what it would do;\n"
        "importing the same file again changes nothing.\n\nExample:\n"
        f"  {MANAGE} import_workers people.csv --apply"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.add_argument("file", type=Path, help="the CSV, its first line naming the columns")
        parser.add_argument("--apply", action="store_true", help="do it, not only report")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import or report; rows with a problem are left out and named."""
        now, is_dry = clock.now(), not options["apply"]
        try:
            text = text_of(Path(options["file"]).read_bytes())
            by = "" if is_dry else "command import_workers"
            report = import_workers(text, now, is_dry=is_dry, by=by)
        except UploadError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from None
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(report, is_dry)))
        else:
            self._print(report, is_dry)
        if report.count(Outcome.PROBLEM):
            raise CommandError(f"{report.count(Outcome.PROBLEM)} rows were left out: mend them.")

    def _print(self, report: Report, is_dry: bool) -> None:
        for line in report.lines:
            said = " ".join(line.sentences)
            self.stdout.write(f"row {line.row}: {line.name or '–'}: {line.outcome}. {said}".strip())
        if report.ignored:
            self.stdout.write(f"columns that mean nothing here: {', '.join(report.ignored)}")
        if report.new_groups:
            self.stdout.write(f"new groups: {', '.join(report.new_groups)}")
        done = "Nothing was changed; with --apply:" if is_dry else "Done:"
        self.stdout.write(f"{done} {report.summary}.")


def _as_json(report: Report, is_dry: bool) -> dict[str, Any]:
    return {
        "dry_run": is_dry,
        "new_groups": report.new_groups,
        "ignored_columns": report.ignored,
        "rows": [
            {
                "row": line.row,
                "name": line.name,
                "outcome": line.outcome.value,
                "sentences": line.sentences,
                "worker_id": line.worker.worker_id if line.worker and not is_dry else "",
            }
            for line in report.lines
        ],
    }
