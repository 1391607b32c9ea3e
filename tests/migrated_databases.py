"""Databases that are up to date already, copied for each served instance: migrating takes long."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from django.db import connection

from tests.processes import database_url

ROOT = Path(__file__).resolve().parent.parent
MIGRATE = """
import django; from django.core.management import call_command
django.setup()
call_command("migrate", verbosity=0)
call_command("migrate", "marketplace", database="marketplace", verbosity=0)
"""
TEMPLATES = ("migrated_collector", "migrated_marketplace")


@cache
def kept() -> Path:
    """Return the folder that the processes of one run of tests share."""
    folder = Path(os.environ.get("COLLECTOR_HOME") or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def once(name: str) -> Iterator[Path | None]:
    """Yield a marker to touch for whoever comes first, and None for everybody after.

    Others of the same run of tests wait meanwhile.
    """
    with (kept() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        marker = kept() / f"{name}.made"
        yield None if marker.exists() else marker


def migrate(**environment: str) -> None:
    """Bring both databases of a home, or those named by the environment, up to date."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    environment["DJANGO_SETTINGS_MODULE"] = "collector.settings"
    subprocess.run([sys.executable, "-c", MIGRATE], check=True, cwd=ROOT, env=environment)


def move_into(home: Path) -> None:
    """Put two databases without rows, up to date, into a home that has none."""
    source = kept() / "migrated"
    with once("migrated") as marker:
        if marker:
            migrate(COLLECTOR_HOME=str(source), DATABASE_URL="", MARKETPLACE_DATABASE_URL="")
            marker.touch()
    for path in source.glob("*.sqlite3*"):
        shutil.copy(path, home)


@contextmanager
def databases(name: str) -> Iterator[dict[str, str]]:
    """Yield the settings of two databases without rows on the server of the running suite."""
    if connection.vendor == "sqlite":
        yield {}
        return
    server = database_url("default").rpartition("/")[0]
    settings = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL")
    with connection.cursor() as cursor, once("templates") as marker:
        if marker:
            for template in TEMPLATES:
                cursor.execute(f"DROP DATABASE IF EXISTS {template} WITH (FORCE)")
                cursor.execute(f"CREATE DATABASE {template}")
            addresses = [f"{server}/{template}" for template in TEMPLATES]
            migrate(**dict(zip(settings, addresses, strict=True)))
            marker.touch()
        names = [f"{name}_collector", f"{name}_marketplace"]
        for made, template in zip(names, TEMPLATES, strict=True):
            cursor.execute(f"DROP DATABASE IF EXISTS {made} WITH (FORCE)")
            cursor.execute(f"CREATE DATABASE {made} TEMPLATE {template}")
    yield {setting: f"{server}/{made}" for setting, made in zip(settings, names, strict=True)}
