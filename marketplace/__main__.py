"""Runs the marketplace's own commands: `.venv/bin/python -m marketplace create_requester …`."""

import sys

from common.command_line import run_command

if __name__ == "__main__":
    arguments = ["marketplace", *sys.argv[1:]]
    run_command(arguments, "marketplace.settings", ".venv/bin/python -m marketplace migrate")
