"""Creates a collection: one run of a protocol over a corpus."""

from argparse import ArgumentParser
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.utils import timezone

from collector.lookup import corpus_named
from collector.protocols.creation import create_collection, withholds
from collector.protocols.loading import ProtocolError, get_protocol
from collector.protocols.parameters import assignment, language_limits
from collector.seeds.selection import fitting_length
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand, amount, seed
from tasks.crowd.requester_api import MarketplaceError, asked_once
from tasks.people.trusted import check_groups

# Seeds in a sample collection.
GUESSED = 1 << 32
# Where workers are told to write while nobody has said it.
NOBODY = "ask@localhost"


class Command(ResultCommand):
    """create_collection NAME --protocol PROTOCOL --corpus CORPUS."""

    help = (
        f"Create a collection.\n\nExample:\n  {MANAGE} create_collection pilot --protocol PROTOCOL "
        "--corpus quarnsey --budget 200 --set question.reward_cents=450"
    )

    refusals = (ProtocolError, ActionError, ValueError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="short name, as in an address: letters, digits, hyphens")
        parser.add_argument("--protocol", required=True)
        parser.add_argument("--corpus", required=True)
        parser.add_argument("--title", default="", help="what workers and readers are shown")
        parser.add_argument(
            "--budget", type=amount, default=Decimal(0), help="hard cap, in currency units"
        )
        parser.add_argument("--seed", type=seed, help="the random seed, to choose the same again")
        parser.add_argument("--requester", default="The dataset team", help="shown to workers")
        parser.add_argument("--contact", default=NOBODY, help="where workers can write to")
        parser.add_argument("--ethics", default="", help="ethics protocol number, if there is one")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a parameter of protocol.toml, such as question.reward_cents=450",
        )
        parser.add_argument(
            "--lines",
            action="append",
            default=[],
            metavar="KEY=FILE",
            help="a list among the parameters, read from a file with one value a line",
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Create it, or say in one line why not."""
        protocol = get_protocol(options["protocol"])
        overrides = dict(assignment(text) for text in options["set"])
        overrides |= dict(_lines(text) for text in options["lines"])
        corpus = corpus_named(options["corpus"])
        fitting = fitting_length(protocol, corpus)
        if fitting:
            overrides = fitting.overrides | overrides
        parameters = protocol.parameters(overrides)
        unsure = _unchecked(parameters.people.groups)
        collection = create_collection(
            options["name"],
            protocol,
            corpus,
            overrides=overrides,
            seed=options["seed"],
            now=timezone.now(),
            title=options["title"],
            budget_cents=round(options["budget"] * 10**parameters.pay.minor_units),
            requester_name=options["requester"],
            requester_contact=options["contact"],
            ethics_number=options["ethics"],
        )
        if unsure:
            self.stderr.write(unsure)
        if fitting and fitting.overrides.items() <= overrides.items():
            self.stderr.write(str(fitting))
        for sentence in language_limits(parameters, corpus.language):
            self.stderr.write(sentence)
        if options["contact"] == NOBODY:
            self.stderr.write(
                f"Workers are told to write to {NOBODY}, where nobody reads: give --contact."
            )
        if withholds(protocol) and options["seed"] is not None and options["seed"] < GUESSED:
            self.stderr.write(
                f"The seed {options['seed']} can be guessed, and tells the pairs of test questions "
                "whose answers are withheld. For a dataset to be published, leave --seed out."
            )
        return {"collection": collection.slug}, [
            f"Created the collection {collection.slug!r}. "
            f"Next: {MANAGE} select_seeds {collection.slug} --count 100"
        ]


def _unchecked(groups: list[str]) -> str:
    """Return a sentence where nobody can say now whether there are these groups, "" if they are.

    Raises ActionError for one that the marketplace does not have.
    """
    try:
        with asked_once():
            check_groups(groups)
    except MarketplaceError as error:
        return f"Whether there is a group {' or '.join(groups)} is asked at publishing: {error}"
    return ""


def _lines(text: str) -> tuple[str, list[str]]:
    """Return key and values of KEY=FILE, blank lines left out; raises ValueError."""
    key, equals, path = text.partition("=")
    if not equals or not key:
        raise ValueError(f"{text!r}: write it as KEY=FILE.")
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"{path}: it cannot be read ({error.strerror}).") from None
    return key.strip(), [line.strip() for line in lines if line.strip()]
