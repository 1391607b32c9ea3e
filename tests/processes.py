"""Runs functions of the tests in processes of their own, on the test's database."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections

ROOT = Path(__file__).resolve().parent.parent
ALIASES = ("default", "marketplace")
# Settings that a test may have changed, and that another process needs to see.
CHANGED = ("HOME", "MTURK_KEYS_FILE")


def database_url(alias: str) -> str:
    """Return the address of the database the running test uses."""
    row = connections[alias].settings_dict
    if "sqlite" in row["ENGINE"]:
        return f"sqlite:///{row['NAME']}"
    password = f":{row['PASSWORD']}" if row["PASSWORD"] else ""
    return f"postgres://{row['USER']}{password}@{row['HOST']}:{row['PORT']}/{row['NAME']}"


def soon() -> float:
    """Return a moment by which processes that are begun now have all started."""
    _get_ready()
    return time.time() + 1


@cache
def _get_ready() -> None:
    """Have everything imported by the process that others are forked from."""
    together("time", "time", [[]])


def together(
    name: str, function: str, calls: list[list[Any]], timeout_seconds: float = 120
) -> list[Any]:
    """Return what `function` of module `name` returned in one process per call, all at once.

    The processes are forked from one that has imported everything, for that takes longest.
    Raises what the function raised.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.ready_process"])
    databases = {alias: str(connections[alias].settings_dict["NAME"]) for alias in ALIASES}
    changed = {setting: getattr(settings, setting) for setting in CHANGED}
    with ProcessPoolExecutor(len(calls), mp_context=context, max_tasks_per_child=1) as processes:
        begun = [
            processes.submit(_carry_out, name, function, arguments, databases, changed)
            for arguments in calls
        ]
        return [call.result(timeout_seconds) for call in begun]


def _carry_out(
    name: str,
    function: str,
    arguments: list[Any],
    databases: dict[str, str],
    changed: dict[str, Any],
) -> Any:
    for alias, database in databases.items():
        connections.settings[alias]["NAME"] = database
    for setting, value in changed.items():
        setattr(settings, setting, value)
    return getattr(import_module(name), function)(*arguments)
