"""Runs the marketplace's own commands: `.venv/bin/python -m marketplace create_requester …`."""

import sys

from common.command_line import carry_out

if __name__ == "__main__":
    arguments = ["marketplace", *sys.argv[1:]]
    carry_out(arguments, "marketplace.settings", ".venv/bin/python -m marketplace migrate")
