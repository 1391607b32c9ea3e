"""Unpacks a home as an earlier version left it (tests/data/old_home/), as old as it was then."""

import hashlib
import json
import re
import sqlite3
import tarfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.migrated_databases import ROOT

FOLDER = ROOT / "tests" / "data" / "old_home"
RELEASED: dict[str, str] = json.loads((FOLDER / "released.json").read_text("utf-8"))
DATABASES = {"default": "collector", "marketplace": "marketplace"}
# Of a release, what tells of data; the rest describes it in the words of a version, tables too.
DATA, WORDS = (".json", ".jsonl", ".csv"), {"croissant.json", "manifest.json"}
TABLES = "tables"
# What migrations write themselves.
MADE_ANEW = ("auth_permission", "django_content_type")


def unpack(home: Path) -> None:
    """Put the old home into an empty folder, its databases as SQLite files."""
    with tarfile.open(FOLDER / "home.tar.xz") as archive:
        archive.extractall(home, filter="data")
        made = datetime.fromtimestamp(archive.getmember("collector.sql").mtime, UTC)
    for name in DATABASES.values():
        with closing(sqlite3.connect(home / f"{name}.sqlite3")) as database:
            # Django's own function, which constraints of tables call.
            database.create_function("REGEXP", 2, lambda rule, text: bool(re.search(rule, text)))
            database.executescript((home / f"{name}.sql").read_text("utf-8"))
            _move_times(database, datetime.now(UTC) - made)
            database.commit()


def _move_times(database: sqlite3.Connection, by: timedelta) -> None:
    """Let everything be as long ago as it was when the home was packed: what was open is open."""
    database.create_function("moved", 1, lambda text: str(datetime.fromisoformat(text) + by))
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
        for _, column, kind, *_ in database.execute(f'PRAGMA table_info("{table}")').fetchall():
            if kind == "datetime":
                database.execute(
                    f'UPDATE "{table}" SET "{column}" = moved("{column}") '
                    f'WHERE "{column}" IS NOT NULL'
                )


def fill_databases(home: str) -> None:
    """Make the tables of the old version in empty databases on a server, and fill them from a home.

    Runs on the databases of an instance.
    """
    from django.core.management import call_command
    from django.db import connections

    for alias, name in DATABASES.items():
        with closing(sqlite3.connect(Path(home) / f"{name}.sqlite3")) as old:
            call_command("migrate", database=alias, verbosity=0)
            # Later migrations are what the old version has not had.
            call_command("migrate", "collector", "0001_initial", database=alias, verbosity=0)
            with connections[alias].cursor() as cursor:
                _copy_rows(old, cursor)


def _copy_rows(old: sqlite3.Connection, cursor: Any) -> None:
    """Copy every table's rows in one transaction, at whose end references are checked."""
    cursor.execute("SET TimeZone = 'UTC'; BEGIN")
    cursor.execute(
        "SELECT table_name, json_object_agg(column_name, data_type) "
        "FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name"
    )
    for table, kinds in cursor.fetchall():
        if table in MADE_ANEW:
            continue
        if table == "django_migrations":
            cursor.execute("DELETE FROM django_migrations")
        names = ", ".join(f'"{name}"' for name in kinds)
        values = f"INSERT INTO {table} ({names}) VALUES ({', '.join(['%s'] * len(kinds))})"
        for row in old.execute(f"SELECT {names} FROM {table}"):
            typed = zip(row, kinds.values(), strict=True)
            cursor.execute(
                values,
                [bool(v) if kind == "boolean" and v is not None else v for v, kind in typed],
            )
        if kinds.get("id") in ("bigint", "integer"):
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
            )
    cursor.execute("COMMIT")


def digests(releases: Path) -> dict[str, str]:
    """Return the digest of every file of data of every release in a folder."""
    return {
        str(path.relative_to(releases)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(releases.rglob("*"))
        if path.suffix in DATA and path.name not in WORDS and path.parent.name != TABLES
    }
