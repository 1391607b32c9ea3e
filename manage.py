#!/usr/bin/env python
"""Run Collector's commands: `.venv/bin/python manage.py help` lists them."""

import sys
from contextlib import suppress

from common.command_line import MANAGE, run_command

# Of a collection they change nothing that the jobs need to be told of.
LEAVE_ALONE = frozenset({"rehearse", "doctor"})


def have_jobs_look() -> None:
    """Let what a command did to a collection be looked after at once."""
    from django.apps import apps
    from django.db import DatabaseError

    if apps.ready and LEAVE_ALONE.isdisjoint(sys.argv[1:2]):
        from tasks.work import due_work

        # Some commands need no tables.
        with suppress(DatabaseError):
            due_work.wake_all()


if __name__ == "__main__":
    set_up = f"{MANAGE} run (or, on a server, serve --prepare)"
    run_command(sys.argv, "collector.settings", set_up, have_jobs_look)
