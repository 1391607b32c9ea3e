"""Runs every check of the project: lint, types, migrations, and the suite on both databases."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests import services

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
# What needs no database, or a browser, runs once; so does what only shows rows, save at rehearsals.
ON_POSTGRESQL = "not pure and not browser and not long"
NO_TWICE = f"{ON_POSTGRESQL} and not shown"
REHEARSALS = sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "rehearsals").glob("test_*.py")
)
# The instances that tests serve are migrated; rows for the tests alone are laid out at once.
PYTEST = [PYTHON, "-m", "pytest", "-q", "--nomigrations"]
# What SQLite has goes on after PostgreSQL's part, and one of its workers waits for browsers.
WORKERS_ON_SQLITE, WORKERS_ON_POSTGRESQL = ["-n", "3"], ["-n", "2"]
MANAGE = [PYTHON, "manage.py"]
ROOMS = ("common", "collector", "tasks", "annotation", "readers", "marketplace")
LINT = {
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "types": [PYTHON, "-m", "mypy", *ROOMS],
    "system check": [*MANAGE, "check", "--fail-level", "WARNING"],
    "migrations": [*MANAGE, "makemigrations", "--check", "--dry-run"],
}


def run(name: str, command: list[str], environment: dict[str, str], *, aside: bool = False) -> bool:
    """Return whether the command succeeded, printing its name and how long it took.

    aside: something else prints meanwhile, so what this one says is kept until it has ended.
    """
    print(f"== {name}", flush=True)
    began = time.monotonic()
    output = subprocess.PIPE if aside else None
    result = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, text=True)
    print(
        result.stdout or "",
        f"== {name}: {'ok' if not result.returncode else 'FAILED'}, ",
        f"{time.monotonic() - began:.0f} s",
        sep="",
        flush=True,
    )
    return result.returncode == 0


def main() -> int:
    """Return 0 when everything passes."""
    parser = argparse.ArgumentParser(prog="tests", description=__doc__)
    parser.add_argument("--lint", action="store_true", help="lint, types and checks alone")
    parser.add_argument("--readers", action="store_true", help="what needs torch, alone")
    parser.add_argument("--rehearse", action="store_true", help="crowds, competitors, kills")
    parser.add_argument("--only", metavar="WORDS", help="rehearsals that have these in their name")
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
            # Dozens of processes start: what one of them has compiled, all others read.
            "PYTHONDONTWRITEBYTECODE",
        ):
            base.pop(name, None)
        if chosen.rehearse:
            with services.postgresql() as database, services.redis() as redis:
                return 0 if rehearse(base, database, redis, chosen.only) else 1
        if chosen.readers:
            return 0 if readers(base) else 1
        if chosen.lint:
            return 0 if lint(base, aside=False) else 1
        with ThreadPoolExecutor() as threads:
            linted = threads.submit(lint, base, aside=True)
            passed = suite({**base})
            return 0 if linted.result() and passed else 1


def lint(base: dict[str, str], *, aside: bool) -> bool:
    """Return whether lint, types and checks pass; all of them run."""
    results = [run(name, command, base, aside=aside) for name, command in LINT.items()]
    return all(results)


def suite(base: dict[str, str]) -> bool:
    """Return whether the tests pass on file-backed SQLite and on PostgreSQL."""
    try:
        base["COLLECTOR_CHROMIUM"] = services.chromium()
        with services.postgresql() as database, services.redis() as one, services.redis() as two:
            base["TEST_REDIS_URL"] = one
            other = {**base, **postgres_settings(database), "TEST_REDIS_URL": two}
            other["COLLECTOR_HOME"] = f"{base['COLLECTOR_HOME']}/postgresql"
            # Both at once: what waits for a browser or another process leaves a core free.
            with ThreadPoolExecutor() as threads:
                command = [*PYTEST, *WORKERS_ON_POSTGRESQL, "-m", NO_TWICE]
                name = "tests on PostgreSQL"
                on_postgres = threads.submit(run, name, command, other, aside=True)
                command = [*PYTEST, *WORKERS_ON_SQLITE, "-m", "not once and not long"]
                on_sqlite = run("tests on SQLite", command, base)
                return on_postgres.result() and on_sqlite
    except services.Missing as missing:
        print(missing, file=sys.stderr)
        return False


def readers(base: dict[str, str]) -> bool:
    """Return whether what needs torch passes, on SQLite."""
    # A thread each: the tests stand side by side, and sums come out alike on any machine.
    one = {**base, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    return run("readers", [*PYTEST, "-n", "2", "readers"], one)


def rehearse(base: dict[str, str], database: str, redis: str, only: str | None = None) -> bool:
    """Return whether the long rehearsals pass, or those that have the words in their names.

    Without words, every test of the suite that has a database runs on PostgreSQL besides, and what
    reads too much for the suite on SQLite.
    """
    other = {**base, **postgres_settings(database), "TEST_REDIS_URL": redis}
    chosen = ["-k", only] if only else []
    passed = run("rehearsals", [PYTHON, "-m", "pytest", "-q", *REHEARSALS, "-s", *chosen], other)
    if only:
        return passed
    everything = [*PYTEST, *WORKERS_ON_POSTGRESQL, "-m", f"{ON_POSTGRESQL} and shown"]
    passed = run("what shows rows, on PostgreSQL", everything, other) and passed
    return run("what reads much", [*PYTEST, *WORKERS_ON_SQLITE, "-m", "long"], base) and passed


def postgres_settings(server: str) -> dict[str, str]:
    """Return the settings that put both databases on one server."""
    address = server.rpartition("/")[0]
    return {
        "DATABASE_URL": f"{address}/collector",
        "MARKETPLACE_DATABASE_URL": f"{address}/marketplace",
    }


if __name__ == "__main__":
    sys.exit(main())
