#!/usr/bin/env python
"""Run Collector's commands: `.venv/bin/python manage.py help` lists them."""

import sys

from common.command_line import MANAGE, run_command

if __name__ == "__main__":
    run_command(sys.argv, "collector.settings", f"{MANAGE} run (or, on a server, serve --prepare)")
