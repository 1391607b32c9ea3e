"""`baseline`: a paper's own baselines, trained on official files and scored."""

import json
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.baselines.paper_table import AllOf, as_estimate, duration, estimate_all, train_all
from annotation.baselines.progress import told_to
from annotation.baselines.training import Order, estimate, order_of, predict, train
from annotation.metrics.result import ScoreError
from annotation.protocols.contracts import TRAINED
from annotation.tables.terminal import scores_for_terminal, table_lines
from collector.protocols.loading import ProtocolError, all_protocols, get_protocol
from common.command_line import MANAGE, Printout, ResultCommand, seed
from readers.trained import ReaderError

ALL = "all"


class Command(ResultCommand):
    """baseline NAME --protocol P --train FILES --dev FILE --out FOLDER."""

    help = (
        "Train one of a paper's baselines, answer the dev file, score it, and write a card with "
        "everything needed to repeat it. Run again, it goes on where it was broken off. "
        f"Example: {MANAGE} baseline NAME --protocol P --train train.json --dev dev.json "
        "--out runs/first --recipe small"
    )

    # Files are all it reads: neither pages nor a database have to be in order.
    requires_system_checks = []

    refusals = (ProtocolError, ReaderError, ScoreError, ValueError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        names = "; ".join(
            f"{protocol.name}: {', '.join(protocol.part(TRAINED).TRAINED)}"
            for protocol in all_protocols()
            if protocol.has(TRAINED, "TRAINED")
        )
        parser.add_argument("name", metavar="NAME", help=f"{names}; {ALL}: each, from --release")
        parser.add_argument("--protocol", metavar="P")
        parser.add_argument(
            "--train", type=Path, nargs="+", metavar="FILE", help="official files to learn from"
        )
        parser.add_argument("--dev", type=Path, metavar="FILE", help="measured on, and answered")
        parser.add_argument(
            "--out", type=Path, required=True, metavar="FOLDER", help="new, or of the same run"
        )
        parser.add_argument(
            "--recipe",
            default="paper",
            metavar="paper|small|FILE",
            help="the paper's numbers (default), ones for a processor, or yours over the paper's",
        )
        parser.add_argument(
            "--encoder",
            default="",
            metavar="NAME",
            help="name or folder, for the recipe's own, or a folder of models by their names",
        )
        parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default 0")
        parser.add_argument(
            "--estimate",
            action="store_true",
            help="only measure a few steps, and say how long all takes and in how much memory",
        )
        parser.add_argument(
            "--predict",
            type=Path,
            metavar="FILE",
            help="answer another file, such as a test file, with the run that is finished in --out",
        )
        parser.add_argument(
            "--release",
            type=Path,
            metavar="FOLDER",
            help=f"with {ALL}: train every baseline from a release, and fill the paper's tables",
        )
        parser.add_argument(
            "--learned-in",
            type=Path,
            metavar="FOLDER",
            help="answer with what the baseline that learns the same has learned there",
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Do it, or say in one line why not."""
        if options["name"] == ALL:
            return self._all(options)
        if options["predict"]:
            order = order_of(options["out"])
            if order.name != options["name"]:
                raise CommandError(f"{options['out']}: {order.name} was trained there.")
            with told_to(self.stderr) as tell:
                path = predict(replace(order, tell=tell), options["predict"])
            return {"predictions": str(path)}, [str(path)]
        order = self._order(options)
        if options["estimate"]:
            with told_to(self.stderr, "Measuring a few steps"):
                found = estimate(order)
            return found.plain(), [as_estimate(order, found)]
        with told_to(self.stderr) as tell:
            done = train(replace(order, tell=tell))
        lines = [f"{options['out']} is finished already."] if done.was_there else []
        # A card names files, which JSON has as texts.
        return json.loads(json.dumps(done.card, default=str)), [
            *lines,
            scores_for_terminal(done.result, in_colour=self.stdout.isatty()),
            f"Predictions: {options['out'] / done.card['predictions']}",
            f"How it was made: {options['out'] / 'README.md'}",
        ]

    def _order(self, options: dict[str, Any]) -> Order:
        for name in ("protocol", "train", "dev"):
            if not options[name]:
                raise CommandError(f"Which --{name}? Only --predict knows it from --out.")
        return Order(
            protocol=get_protocol(options["protocol"]),
            name=options["name"],
            train=tuple(options["train"]),
            dev=options["dev"],
            out=options["out"],
            recipe=options["recipe"],
            encoder=options["encoder"],
            seed=options["seed"],
            stages_from=options["learned_in"],
        )

    def _all(self, options: dict[str, Any]) -> Printout:
        """Train all of a protocol's from a release, and return the paper's tables."""
        for name in ("protocol", "release"):
            if not options[name]:
                raise CommandError(f"Which --{name}? All baselines are trained from one release.")
        kept = ("out", "recipe", "encoder", "seed", "release")
        work = AllOf(get_protocol(options["protocol"]), **{name: options[name] for name in kept})
        if options["estimate"]:
            with told_to(self.stderr, "Measuring a few steps of each"):
                found = estimate_all(work)
            seconds = sum(each.seconds for _, each in found)
            return {order.name: each.plain() for order, each in found}, [
                *(as_estimate(order, each) for order, each in found),
                f"All of them: about {duration(seconds)}.",
            ]
        with told_to(self.stderr) as tell:
            tables = train_all(replace(work, tell=tell))
        return [table.plain() for table in tables], [
            table_lines(tables, in_colour=self.stdout.isatty()),
            f"The same in {options['out'] / 'README.md'}",
        ]
