"""Runs the marketplace's own commands: `python -m marketplace create_requester Rita …`."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")
    execute_from_command_line(["marketplace", *sys.argv[1:]])
