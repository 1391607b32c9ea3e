"""`score`: a protocol's official metrics for a predictions file."""

import json
from argparse import ArgumentParser
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from annotation.metrics.result import Result, ScoreError
from collector.protocol import ProtocolError, every, find

PART = "scoring"


class Command(BaseCommand):
    """Finds the protocol's scoring part; options of one protocol are refused for another."""

    help = (
        "Score predictions against gold, both in the protocol's official layout. "
        "Example: manage.py score --protocol NAME predictions.json dev.json --json"
    )

    # Two files are all it reads: neither pages nor a database have to be in order.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add our own arguments and the options of every protocol that can score."""
        parser.add_argument("predictions", type=Path, metavar="PREDICTIONS")
        parser.add_argument("gold", type=Path, metavar="GOLD")
        parser.add_argument("--protocol", required=True, metavar="NAME")
        parser.add_argument(
            "--json", action="store_true", help="print the official keys, unrounded"
        )
        for name, uses in _options().items():
            helps = "; ".join(f"{protocol}: {use['help']}" for protocol, use in uses.items())
            use = next(iter(uses.values()))
            kept = {key: use[key] for key in ("action", "type", "metavar") if key in use}
            parser.add_argument(f"--{name}", default=None, help=helps, **kept)

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the scores; raises CommandError with one line for whatever is wrong."""
        try:
            protocol = find(options["protocol"])
            if not protocol.has(PART):
                raise CommandError(f"The protocol {protocol.name!r} lacks {PART}.py: write it.")
            given = _given(protocol.name, options)
            result = protocol.part(PART).score(options["predictions"], options["gold"], given)
        except (ProtocolError, ScoreError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(as_json(result) if options["json"] else self._as_table(result))

    def _as_table(self, result: Result) -> str:
        """Return the scores for a person to read."""
        table = Table(*result["columns"][:1])
        for column in result["columns"][1:]:
            table.add_column(column, justify="right")
        for row in result["rows"]:
            table.add_row(*row)
        console = Console(file=StringIO(), force_terminal=self.stdout.isatty(), width=100)
        console.print(table)
        for note in result["notes"]:
            console.print(note, markup=False, highlight=False)
        return console.file.getvalue()  # type: ignore[attr-defined]


def as_json(result: Result) -> str:
    """Return exactly the official keys, with the groups under "by" where they were asked for."""
    groups = {"by": result["groups"]} if result["groups"] else {}
    return json.dumps({**result["official"], **groups})


def _options() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what each scoring part declares in OPTIONS: option -> protocol -> its definition."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for protocol in every():
        if protocol.has(PART):
            for name, use in getattr(protocol.part(PART), "OPTIONS", {}).items():
                found.setdefault(name, {})[protocol.name] = use
    return found


def _given(protocol: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options given; raises CommandError for one that the protocol does not take."""
    given = {}
    for name, uses in _options().items():
        value = options.get(name.replace("-", "_"))
        if value is None:
            continue
        if protocol not in uses:
            raise CommandError(
                f"--{name} means nothing for {protocol}; it is of {', '.join(uses)}."
            )
        choices = uses[protocol].get("choices")
        if choices and value not in choices:
            raise CommandError(f"--{name} {value}: choose one of {', '.join(choices)}.")
        given[name] = value
    return given
