"""`score`: a protocol's official metrics for a predictions file, or for one of its baselines."""

from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from django.core.management.base import CommandError

from annotation.baselines.training import check_training
from annotation.metrics.result import Option, Result, ScoreError
from annotation.protocols.contracts import BASELINES, SCORING, TakesOptions
from annotation.tables.terminal import scores_as_plain, scores_for_terminal
from collector.protocols.loading import Part, Protocol, ProtocolError, all_protocols, get_protocol
from common.command_line import MANAGE, Printout, ResultCommand, seed
from readers.trained import ReaderError

ALL = "all"
# Of an option's definition what argparse is told; its help names every protocol's own.
ARGUMENTS: tuple[Literal["action", "type", "metavar"], ...] = ("action", "type", "metavar")
# What a file has that scores; a protocol's baselines may all be trained ones.
RUNS = {SCORING.name: "score", BASELINES.name: "run"}


class Command(ResultCommand):
    """Finds the protocol's part that scores; options of one protocol are refused for another."""

    help = (
        "Score predictions against gold, both in the protocol's official layout; with --baseline "
        "the predictions are written first. "
        f"Example: {MANAGE} score --protocol NAME predictions.json dev.json --json"
    )

    # Two files are all it reads: neither pages nor a database have to be in order.
    requires_system_checks = []

    refusals = (ProtocolError, ReaderError, ScoreError)
    json_help = "print the official keys, unrounded"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add our own arguments and the options of every protocol that can score."""
        parser.add_argument("predictions", type=Path, metavar="PREDICTIONS")
        parser.add_argument("gold", type=Path, metavar="GOLD")
        parser.add_argument("--protocol", required=True, metavar="NAME")
        names = "; ".join(
            f"{protocol.name}: {', '.join(protocol.part(BASELINES).BASELINES)}"
            for protocol in all_protocols()
            if protocol.has(BASELINES, RUNS[BASELINES.name])
        )
        parser.add_argument(
            "--baseline",
            metavar="NAME",
            help=f"write PREDICTIONS, a new file, by it; {names}; {ALL}: write each into a new "
            "folder PREDICTIONS, one table",
        )
        parser.add_argument(
            "--train", type=Path, metavar="FILE", help="what a baseline learns from"
        )
        parser.add_argument("--seed", type=seed, metavar="N", help="of a baseline (default 0)")
        for name, uses in _options(SCORING, BASELINES).items():
            helps = "; ".join(f"{protocol}: {use['help']}" for protocol, use in uses.items())
            use = next(iter(uses.values()))
            kept: dict[str, Any] = {key: use[key] for key in ARGUMENTS if key in use}
            parser.add_argument(f"--{name}", default=None, help=helps, **kept)

    def result(self, options: dict[str, Any]) -> Printout:
        """Return the scores; raises CommandError with one line for whatever is wrong."""
        result = _result(get_protocol(options["protocol"]), options)
        return scores_as_plain(result), [
            scores_for_terminal(result, in_colour=self.stdout.isatty())
        ]


def _result(protocol: Protocol, options: dict[str, Any]) -> Result:
    """Return the scores; raises one of the errors that `handle` knows for a wrong call."""
    if not protocol.has(SCORING):
        raise CommandError(f"The protocol {protocol.name!r} lacks {SCORING.name}.py: write it.")
    files = (options["predictions"], options["gold"])
    name = options["baseline"]
    given = _given(protocol.name, options, (SCORING,) if name is None else (SCORING, BASELINES))
    learning = {key: options[key] for key in ("train", "seed") if options[key] is not None}
    result: Result
    if name is None:
        if learning:
            raise CommandError(f"--{next(iter(learning))} is for baselines: give --baseline NAME.")
        result = protocol.part(SCORING).score(*files, given)
    else:
        if options["train"] is not None:
            # As gold a file with answers that are withheld may score; nothing learns from one.
            check_training(protocol, [options["train"]], options["train"])
        result = _baseline(protocol, name)(*files, {**given, **learning})
    return result


def _baseline(protocol: Protocol, name: str) -> Callable[..., Result]:
    """Return what runs the baseline; raises CommandError where the protocol has none such."""
    if not protocol.has(BASELINES, RUNS[BASELINES.name]):
        raise CommandError(f"The protocol {protocol.name!r} has no baselines.")
    if name == ALL:
        return protocol.part(BASELINES).run_all
    names = protocol.part(BASELINES).BASELINES
    if name not in names:
        raise CommandError(f"--baseline {name}: choose one of {', '.join(names)}, or {ALL}.")
    return partial(protocol.part(BASELINES).run, name)


def _options(
    *parts: Part[TakesOptions],
) -> dict[str, dict[str, Option]]:
    """Return what these parts declare in OPTIONS: option -> protocol -> its definition."""
    found: dict[str, dict[str, Option]] = {}
    for protocol in all_protocols():
        for part in parts:
            if protocol.has(part, RUNS[part.name]):
                for name, use in protocol.part(part).OPTIONS.items():
                    found.setdefault(name, {})[protocol.name] = use
    return found


def _given(
    protocol: str,
    options: dict[str, Any],
    parts: tuple[Part[TakesOptions], ...],
) -> dict[str, Any]:
    """Return the options given; raises CommandError for one that these parts do not take."""
    given = {}
    taken = _options(*parts)
    for name, uses in _options(SCORING, BASELINES).items():
        value = options.get(name.replace("-", "_"))
        if value is None:
            continue
        if protocol not in uses:
            raise CommandError(
                f"--{name} means nothing for {protocol}; it is of {', '.join(uses)}."
            )
        if protocol not in taken.get(name, {}):
            raise CommandError(f"--{name} is for baselines: give --baseline NAME.")
        choices = uses[protocol].get("choices")
        if choices and value not in choices:
            raise CommandError(f"--{name} {value!r}: choose one of {', '.join(choices)}.")
        given[name] = value
    return given
