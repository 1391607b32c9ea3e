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
SETTINGS = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL")


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
    with once("templates") as marker:
        if marker:
            migrate(**made(*TEMPLATES))
            marker.touch()
        settings = made(*names_of(name), of=TEMPLATES)
    yield settings


def names_of(name: str) -> tuple[str, str]:
    """Return how the two databases of an instance are called."""
    return f"{name}_collector", f"{name}_marketplace"


def made(*names: str, of: tuple[str, ...] = ("template1", "template1")) -> dict[str, str]:
    """Make two databases on the server of the running suite; return the settings that name them."""
    server = database_url("default").rpartition("/")[0]
    with connection.cursor() as cursor:
        for name, template in zip(names, of, strict=True):
            cursor.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return {setting: f"{server}/{name}" for setting, name in zip(SETTINGS, names, strict=True)}
