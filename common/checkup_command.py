"""The command `doctor`, which Collector and the marketplace have each for its own checks."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from common.checkup import Check, Finding, examine


class DoctorCommand(BaseCommand):
    """`doctor`: ends with code 1 where something is left."""

    example = ""

    @property
    def help(self) -> str:  # type: ignore[override]
        """Return what the command does, and every check."""
        return (
            "Find what a crash can leave behind; --mend mends it by what the jobs do themselves. "
            "It may run beside a working site, and ends with code 1 where something is left.\n\n"
            f"Example: {self.example}\n\n" + "\n".join(map(_described, self.checks()))
        )

    def checks(self) -> list[Check]:
        """Return what is looked at."""
        raise NotImplementedError

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.add_argument("--mend", action="store_true", help="mend what is found")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, **options: Any) -> None:
        """Look, mend if asked to, and say it."""
        checks = self.checks()
        findings = examine(checks, mend=options["mend"])
        if options["json"]:
            rows = [finding.as_row() for finding in findings]
            self.stdout.write(json.dumps({"checks": len(checks), "findings": rows}))
        else:
            self._say(findings, len(checks), mend=options["mend"])
        if any(finding.left or finding.why for finding in findings):
            raise SystemExit(1)

    def _say(self, findings: list[Finding], number: int, *, mend: bool) -> None:
        for finding in findings:
            self.stdout.write(f"{finding.check.name}: {finding.says}")
            for line in finding.found:
                is_left = line in finding.left
                mark = "" if not mend else "left: " if is_left else "mended: "
                self.stdout.write(f"  {mark}{line}")
            if finding.why:
                self.stdout.write(f"  {finding.why}")
            elif finding.left:
                mends = finding.check.mends
                by_hand = "  A person has to mend this." if mend or not mends else ""
                self.stdout.write(by_hand or f"  --mend {mends}.")
        if not findings:
            self.stdout.write(f"Nothing is wrong, by {number} checks.")


def _described(check: Check) -> str:
    return f"  {check.name}: {check.means} " + (f"--mend {check.mends}." if check.mends else "")
