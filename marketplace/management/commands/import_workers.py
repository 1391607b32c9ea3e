"""Brings a list of people in as workers."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from common.command_line import MANAGE, Printout, ResultCommand
from common.spreadsheet import UploadError, text_of
from marketplace import clock
from marketplace.people.worker_import import Outcome, import_workers


class Command(ResultCommand):
    """`import_workers people.csv --apply`."""

    help = (
        "Import workers from a CSV: name, mail, mturk_id, prolific_id, language, country,\n"
        "qualifications (like 'Spring class; Reader=85'), notes, approved_before,\n"
        "percent_approved_before. Without --apply it only reports, row by row, what it would do;\n"
        "importing the same file again changes nothing.\n\nExample:\n"
        f"  {MANAGE} import_workers people.csv --apply"
    )

    refusals = (UploadError, OSError)
    json_help = "print the report as JSON"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("file", type=Path, help="the CSV, its first line naming the columns")
        parser.add_argument("--apply", action="store_true", help="do it, not only report")

    def result(self, options: dict[str, Any]) -> Printout:
        """Import or report; rows with a problem are left out and named."""
        now, is_dry = clock.now(), not options["apply"]
        text = text_of(Path(options["file"]).read_bytes())
        by = "" if is_dry else "command import_workers"
        report = import_workers(text, now, is_dry=is_dry, by=by)
        lines = []
        for line in report.lines:
            said = " ".join(line.sentences)
            lines.append(f"row {line.row}: {line.name or '–'}: {line.outcome}. {said}".strip())
        if report.ignored:
            lines.append(f"columns that mean nothing here: {', '.join(report.ignored)}")
        if report.new_groups:
            lines.append(f"new groups: {', '.join(report.new_groups)}")
        done = "Nothing was changed; with --apply:" if is_dry else "Done:"
        lines.append(f"{done} {report.summary}.")
        if n_problems := report.count(Outcome.PROBLEM):
            self.problem = f"{n_problems} rows were left out: mend them."
        value = {
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
        return value, lines
