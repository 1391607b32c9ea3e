"""Finds what a crash can leave in the marketplace, and mends it when asked."""

from common.checkup import Check, DoctorCommand
from marketplace.checkup import CHECKS


class Command(DoctorCommand):
    """`doctor`, of a marketplace that is served alone."""

    example = ".venv/bin/python -m marketplace doctor --mend"

    def checks(self) -> list[Check]:
        """Return the marketplace's checks."""
        return list(CHECKS)
