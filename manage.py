#!/usr/bin/env python
"""Run Collector's commands: `.venv/bin/python manage.py help` lists them."""

import sys

from common.command_line import MANAGE, carry_out

if __name__ == "__main__":
    carry_out(sys.argv, "collector.settings", f"{MANAGE} run (or, on a server, serve --prepare)")
