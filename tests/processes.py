"""Runs functions of the tests in processes of their own, on the test's database."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections

ROOT = Path(__file__).resolve().parent.parent
CHILD = """
import django, importlib, json, sys
django.setup()
module, name, arguments = json.loads(sys.argv[1])
print(json.dumps(getattr(importlib.import_module(module), name)(*arguments)))
"""


def database_url(alias: str) -> str:
    """Return the address of the database the running test uses."""
    row = connections[alias].settings_dict
    if "sqlite" in row["ENGINE"]:
        return f"sqlite:///{row['NAME']}"
    password = f":{row['PASSWORD']}" if row["PASSWORD"] else ""
    return f"postgres://{row['USER']}{password}@{row['HOST']}:{row['PORT']}/{row['NAME']}"


def environment() -> dict[str, str]:
    """Return the environment in which another process sees what the test sees."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "collector.settings",
        "DATABASE_URL": database_url("default"),
        "MARKETPLACE_DATABASE_URL": database_url("marketplace"),
        "COLLECTOR_HOME": str(settings.HOME),
        "MTURK_KEYS_FILE": str(settings.MTURK_KEYS_FILE),
        "PYTHONPATH": str(ROOT),
    }


def together(
    name: str, function: str, calls: list[list[Any]], timeout_seconds: float = 120
) -> list[Any]:
    """Return what `function` of module `name` returned in one process per call, all at once."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, json.dumps([name, function, arguments])],
            env=environment(),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for arguments in calls
    ]
    results = []
    for process in started:
        output, _ = process.communicate(timeout=timeout_seconds)
        assert process.returncode == 0, output
        results.append(json.loads(output.splitlines()[-1]))
    return results
