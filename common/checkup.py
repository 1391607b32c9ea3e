"""Checks of what a crash can leave behind: each finds, and where it can, mends by what sweeps do.

Somebody may be at work meanwhile: what is found is looked for again a moment later, and only what
is still there counts.
"""

import re
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connections
from django.utils.module_loading import import_string

from common.command_line import Printout, ResultCommand

AGAIN_SECONDS = 2.0
# How a constraint is called in the statement that made its table.
NAMED = re.compile(r'CONSTRAINT "([^"]+)"')


@dataclass(frozen=True)
class Check:
    """One thing that may be wrong.

    means: a sentence on what it is. mends: what `--mend` does about it, "" where a person has to.
    find: returns a line on each. mend: carries that out.
    """

    name: str
    means: str
    mends: str
    find: Callable[[], list[str]]
    mend: Callable[[], object] | None = None


@dataclass(frozen=True)
class Finding:
    """What a check found, and what of it is left after it was mended (all, where it was not).

    why: what stood in the way; where nothing is found beside it, nobody could look.
    """

    check: Check
    found: list[str]
    left: list[str]
    why: str = ""

    @property
    def says(self) -> str:
        """Return what is wrong; of what could not be looked at, only what was looked for."""
        return self.check.means if self.found else f"Looked for: {self.check.means}"

    def as_row(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "check": self.check.name,
            "means": self.check.means,
            "mends": self.check.mends,
            "found": self.found,
            "left": self.left,
            "why": self.why,
        }


def checks_named(names: Iterable[str]) -> list[Check]:
    """Return the checks of these modules, in order."""
    return [check for name in names for check in import_string(name)]


def examine(
    checks: Sequence[Check], *, mend: bool = False, again_seconds: float = AGAIN_SECONDS
) -> list[Finding]:
    """Return what is wrong; with `mend`, mend it, and say what is left. A check may fail alone."""
    looks = [(check, _look(check)) for check in checks]
    if any(first for _, first in looks if not isinstance(first, Finding)):
        time.sleep(again_seconds)
    findings = []
    for check, first in looks:
        if isinstance(first, Finding):
            findings.append(first)
        elif first:
            findings += _again(check, first, mend=mend)
    return findings


def _look(check: Check) -> list[str] | Finding:
    """Return what a check finds, or that it could not look."""
    try:
        return check.find()
    except Exception as error:
        return _unseen(check, error)


def _again(check: Check, first: list[str], *, mend: bool) -> list[Finding]:
    """Return what is still there of what was found first, mended if asked to; [] if nothing."""
    try:
        found = _still(check, first)
    except Exception as error:
        return [_unseen(check, error)]
    if not found:
        return []
    return [_mended(check, found) if mend else Finding(check, found, found)]


def _unseen(check: Check, error: Exception) -> Finding:
    return Finding(check, [], [], f"It could not be looked at: {_told(error)}")


def _told(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _still(check: Check, found: list[str]) -> list[str]:
    now = set(check.find())
    return [line for line in found if line in now]


def _mended(check: Check, found: list[str]) -> Finding:
    if check.mend is None:
        return Finding(check, found, found)
    try:
        check.mend()
        return Finding(check, found, _still(check, found))
    except Exception as error:
        return Finding(check, found, found, f"It could not be mended: {_told(error)}")


def missing_indexes(alias: str, labels: Iterable[str]) -> list[tuple[type[Any], Any]]:
    """Return the indexes and constraints that the models of these apps have and their tables lack.

    Each with its model. Tables that are not there are left out: `migrate` says so.
    """
    connection, missing = connections[alias], []
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        for label in labels:
            for model in apps.get_app_config(label).get_models():
                meta = model._meta
                if meta.db_table not in tables:
                    continue
                there = _names(cursor, meta.db_table)
                wanted = [*meta.indexes, *meta.constraints]
                missing += [(model, each) for each in wanted if each.name not in there]
    return missing


def _names(cursor: Any, table: str) -> set[str]:
    """Return how the indexes and constraints of a table are called."""
    if cursor.db.vendor != "sqlite":
        return set(cursor.db.introspection.get_constraints(cursor, table))
    # Django's own reading of what SQLite keeps, the table's statement, takes a second for all.
    cursor.execute("SELECT name, sql FROM sqlite_master WHERE tbl_name = %s", [table])
    rows = cursor.fetchall()
    return {name for name, _ in rows} | {
        name for _, sql in rows for name in NAMED.findall(sql or "")
    }


def index_check(alias: str, labels: Sequence[str]) -> Check:
    """Return the check for indexes and constraints of these apps' tables in a database."""

    def find() -> list[str]:
        return [f"{model._meta.db_table}: {each.name}" for model, each in _missing()]

    def _missing() -> list[tuple[type[Any], Any]]:
        return missing_indexes(alias, labels)

    def mend() -> None:
        for model, each in _missing():
            with connections[alias].schema_editor() as editor:
                is_index = each in model._meta.indexes
                (editor.add_index if is_index else editor.add_constraint)(model, each)

    return Check(
        "indexes",
        "The database lacks an index or a rule that its tables should have: work is slow, or "
        "nothing stops what must not be.",
        "makes them; rows that break a rule have to be put right first",
        find,
        mend,
    )


class DoctorCommand(ResultCommand):
    """`doctor`: ends with code 1 where something is left."""

    example = ""

    @property
    def help(self) -> str:  # type: ignore[override]
        """Return what the command does, and every check."""
        return (
            "Find what a crash can leave behind; --mend mends it by what the jobs do themselves. "
            "It may run beside a working site, and ends with code 1 where something is left.\n\n"
            f"Example: {self.example}\n\n" + "\n".join(map(_described, self.checks()))
        )

    def checks(self) -> list[Check]:
        """Return what is looked at."""
        raise NotImplementedError

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--mend", action="store_true", help="mend what is found")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what is found and mended; ends with code 1 where something is left."""
        super().handle(*args, **options)
        if self.is_something_left:
            raise SystemExit(1)

    def result(self, options: dict[str, Any]) -> Printout:
        """Look, and mend if asked to."""
        checks, mend, lines = self.checks(), options["mend"], []
        findings = examine(checks, mend=mend)
        self.is_something_left = any(finding.left or finding.why for finding in findings)
        for finding in findings:
            lines.append(f"{finding.check.name}: {finding.says}")
            for line in finding.found:
                mark = "" if not mend else "left: " if line in finding.left else "mended: "
                lines.append(f"  {mark}{line}")
            if finding.why:
                lines.append(f"  {finding.why}")
            elif finding.left:
                mends = finding.check.mends
                by_hand = "  A person has to mend this." if mend or not mends else ""
                lines.append(by_hand or f"  --mend {mends}.")
        value = {"checks": len(checks), "findings": [finding.as_row() for finding in findings]}
        return value, lines or [f"Nothing is wrong, by {len(checks)} checks."]


def _described(check: Check) -> str:
    return f"  {check.name}: {check.means} " + (f"--mend {check.mends}." if check.mends else "")
