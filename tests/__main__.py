"""Runs every check of the project: lint, types, migrations, and the suite on both databases."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import services

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
# What needs no database, or a browser, runs once.
NO_TWICE = "not pure and not browser"
REHEARSALS = [
    f"tests/rehearsals/test_{name}.py" for name in ("crowd", "competition", "second_host")
]
MANAGE = [PYTHON, "manage.py"]
LINT = {
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "types": [PYTHON, "-m", "mypy", "collector", "tasks", "annotation", "marketplace"],
    "system check": [*MANAGE, "check", "--fail-level", "WARNING"],
    "migrations": [*MANAGE, "makemigrations", "--check", "--dry-run"],
}


def run(name: str, command: list[str], environment: dict[str, str]) -> bool:
    """Return whether the command succeeded, printing its name and how long it took."""
    print(f"== {name}", flush=True)
    began = time.monotonic()
    result = subprocess.run(command, cwd=ROOT, env=environment)
    print(
        f"== {name}: {'ok' if not result.returncode else 'FAILED'}, "
        f"{time.monotonic() - began:.0f} s",
        flush=True,
    )
    return result.returncode == 0


def main() -> int:
    """Return 0 when everything passes."""
    parser = argparse.ArgumentParser(prog="tests", description=__doc__)
    parser.add_argument("--lint", action="store_true", help="lint, types and checks alone")
    parser.add_argument("--rehearse", action="store_true", help="crowds, competitors, kills")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="collector-tests-") as home:
        base = {**os.environ, "COLLECTOR_HOME": home, "PYTHONUNBUFFERED": "1"}
        for name in (
            "DATABASE_URL",
            "MARKETPLACE_DATABASE_URL",
            "REDIS_URL",
            "CELERY_BROKER_URL",
            "MTURK_ENDPOINT_URL",
            "PORT",
        ):
            base.pop(name, None)
        if chosen.rehearse:
            with services.postgresql() as database, services.redis() as redis:
                return 0 if rehearse(base, database, redis) else 1
        results = [run(name, command, base) for name, command in LINT.items()]
        passed = all(results)
        if not chosen.lint:
            passed = suite(base) and passed
    return 0 if passed else 1


def suite(base: dict[str, str]) -> bool:
    """Return whether the tests pass on file-backed SQLite and on PostgreSQL."""
    try:
        base["COLLECTOR_CHROMIUM"] = services.chromium()
        with services.postgresql() as database, services.redis() as redis:
            base["TEST_REDIS_URL"] = redis
            # Three on two cores: one of them mostly waits for a browser or another process.
            pytest = [PYTHON, "-m", "pytest", "-q", "-n", "3", "--dist", "loadgroup"]
            on_sqlite = run("tests on SQLite", [*pytest, "-m", "not once"], base)
            other = {**base, **postgres_settings(database)}
            on_postgres = run("tests on PostgreSQL", [*pytest, "-m", NO_TWICE], other)
    except services.Missing as missing:
        print(missing, file=sys.stderr)
        return False
    return on_sqlite and on_postgres


def rehearse(base: dict[str, str], database: str, redis: str) -> bool:
    """Return whether the long rehearsals pass."""
    other = {**base, **postgres_settings(database), "TEST_REDIS_URL": redis}
    return run("rehearsals", [PYTHON, "-m", "pytest", "-q", *REHEARSALS, "-s"], other)


def postgres_settings(server: str) -> dict[str, str]:
    """Return the settings that put both databases on one server."""
    address = server.rpartition("/")[0]
    return {
        "DATABASE_URL": f"{address}/collector",
        "MARKETPLACE_DATABASE_URL": f"{address}/marketplace",
    }


if __name__ == "__main__":
    sys.exit(main())
