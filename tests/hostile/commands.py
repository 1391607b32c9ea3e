"""Every command with everything that can be given wrong: numbers, names, files."""

import contextlib
import io
import traceback
from argparse import Action
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.core.management import get_commands, load_command_class
from django.db import connections, router

from common.command_line import run_command

# These serve, or do all that the others do, until they are stopped.
UNENDING = {"run", "serve", "demo", "deliver_events"}
ROOMS = {"collector", "tasks", "annotation", "marketplace"}
NUMBERS = ("x", "", "-1", "1e99", "nan", "9" * 30, "0x10", "1.5.2")
WORDS = ("", "../../evil", "x" * 501, "\udcff", "pilot", "nonsense", "a\nb", "🙂")
# What a command has to be given before anything else of it can be wrong.
GIVEN = {
    "protocol": "iirc",
    "corpus": "hollin",
    "count": "1",
    "stage": "question",
    "name": "pilot",
    "worker": "AADA",
    "person": "AADA",
}


def names() -> list[str]:
    """Return the commands of ours."""
    return sorted(
        name for name, app in get_commands().items() if app in ROOMS and name not in UNENDING
    )


def hostile_files(folder: Path) -> list[Path]:
    """Write files that are wrong in every way, and return them with what is no file at all."""
    written = {
        "empty": b"",
        "truncated.json": b'[{"passages": [{"text": "On',
        "deep.json": b"[" * 100_000,
        "deeper.json": b'{"data":' * 100_000,
        "null.json": b"null",
        "other.json": b'{"a": [1, null, {"b": 1e400}], "data": 3}',
        "list.json": b'[null, 1, "x", [], {}]',
        "lines.jsonl": b'{"is": "collection"}\n{"is": []}\n',
        "deep.jsonl": b'{"is": ' + b"[" * 50_000 + b"\n",
        "binary": bytes(range(256)) * 64,
        "utf16.csv": "HITId,AssignmentId\n1,2\n".encode("utf-16"),
        "wrong.csv": b'HITId,AssignmentId\n"1,2\n\0,\n',
        "long.csv": b"a," * 200_000,
        "bad.xml": b"<mediawiki><page><title>x</title>",
        "bomb.bz2": b"BZh91AY&SY" + b"\0" * 40,
        "dump.gz": b"\x1f\x8b\x08\0\0\0\0\0" + b"x" * 100,
    }
    for name, content in written.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir(exist_ok=True)
    return [*(folder / name for name in written), folder / "folder", folder / "missing"]


def wrong_calls(name: str, files: list[Path]) -> Iterator[list[str]]:
    """Yield calls of a command of which one thing is wrong, and a few of nothing but nonsense."""
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    own = [one for one in parser._actions if one.dest not in DJANGOS]
    honest = {one.dest: _honest(one, files) for one in own if _needed(one)}
    yield [name, "--no-such-option"]
    yield [name, *["x"] * 9]
    for action in own:
        for value in _values(action, files):
            yield _call(name, own, {**honest, action.dest: value})


DJANGOS = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color"),
    *("force_color", "skip_checks", "json"),
}


def _needed(action: Action) -> bool:
    return action.required or (not action.option_strings and action.nargs not in ("?", "*"))


def _honest(action: Action, files: list[Path]) -> str:
    if action.choices:
        return str(next(iter(action.choices)))
    return str(files[0]) if _takes_file(action) else GIVEN.get(action.dest, "1")


def _takes_file(action: Action) -> bool:
    told = f"{action.dest} {action.metavar} {action.help}".lower()
    return action.type is Path or any(word in told for word in ("file", "path", "folder"))


def _values(action: Action, files: list[Path]) -> list[str | None]:
    if action.nargs == 0:
        return [None]
    if _takes_file(action):
        return [str(path) for path in files]
    return list(NUMBERS if action.type not in (None, str) else WORDS)


def _call(name: str, own: list[Action], given: dict[str, str | None]) -> list[str]:
    call, bare = [name], []
    for action in own:
        if action.dest not in given:
            continue
        value = given[action.dest]
        if not action.option_strings:
            bare.append(value or "")
        elif value is None:
            call.append(action.option_strings[-1])
        else:
            call.append(f"{action.option_strings[-1]}={value}")
    return [*call, "--", *bare]


def problem_of(call: list[str]) -> str:
    """Return what a call does that none may: a traceback, many lines, a refusal half-done."""
    before = counts()
    out, err, code, raised = io.StringIO(), io.StringIO(), 0, ""
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run_command(["manage.py", *call], "collector.settings", "make it")
    except SystemExit as end:
        code = 1 if end.code else 0
        if isinstance(end.code, str):
            err.write(end.code)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__}: {str(error)[:200]} at {last.filename}:{last.lineno}"
    said = err.getvalue()
    if raised or "Traceback" in said:
        return raised or said[-300:]
    # Below its usage, argparse says one line, too.
    lines = [line for line in said.strip().splitlines() if line]
    lines = lines[-1:] if said.startswith("usage:") else lines
    if code and len(lines) != 1:
        return f"{len(lines)} lines: {said[:300]!r}"
    if code and counts() != before:
        return f"half-done: {counts() ^ before}"
    return ""


def counts() -> set[tuple[str, int]]:
    """Return how many rows every table has, by one statement a database."""
    found = set()
    for alias in ("default", "marketplace"):
        tables = [
            model._meta.db_table
            for model in apps.get_models()
            if router.allow_migrate_model(alias, model)
        ]
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT " + ", ".join(f"(SELECT COUNT(*) FROM {t})" for t in tables))
            found |= set(zip(tables, cursor.fetchone(), strict=True))
    return found
