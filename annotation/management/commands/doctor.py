"""Finds what a crash can leave behind, and mends it when asked."""

from django.conf import settings

from common.checkup import Check, DoctorCommand, checks_named
from common.command_line import MANAGE


class Command(DoctorCommand):
    """doctor [--mend]."""

    example = f"{MANAGE} doctor --mend"

    def checks(self) -> list[Check]:
        """Return Collector's checks, and those of an embedded marketplace."""
        return checks_named(settings.CHECKUPS)
