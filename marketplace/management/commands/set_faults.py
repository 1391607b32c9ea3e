"""Makes things go wrong for one requester's account, on purpose."""

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

from django.core.management.base import CommandError

from common.command_line import MANAGE, Printout, ResultCommand
from marketplace.fault_injection import NO_FAULTS, FaultInjectionError, Faults, change_faults
from marketplace.models import Requester


def yes_or_no(text: str) -> bool:
    """Return whether the text is yes; raises ValueError unless it is yes or no."""
    if text not in ("yes", "no"):
        raise ValueError(text)
    return text == "yes"


KINDS: dict[str, Callable[[str], Any]] = {"seed": int, "reused_assignment_ids": yes_or_no}


class Command(ResultCommand):
    """`set_faults "Rita's lab" --lost-replies 0.1`."""

    help = (
        "Make an account's API misbehave as the service did, for dry runs and tests.\n"
        "What is not named stays as it is.\n\nExample:\n"
        f'  {MANAGE} set_faults "Rita\'s lab" --lost-replies 0.1 --throttling 0.2 '
        "--frozen-seconds 5\n"
        f'  {MANAGE} set_faults "Rita\'s lab" --none'
    )

    refusals = (FaultInjectionError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("requester", help="the requester's name")
        parser.add_argument(
            "--none", "--fair", action="store_true", help="nothing goes wrong any more"
        )
        for one in fields(Faults):
            kind: Callable[[str], Any] = KINDS.get(one.name, float)
            parser.add_argument(
                f"--{one.name.replace('_', '-')}", type=kind, help=f"by default {one.default}"
            )

    def result(self, options: dict[str, Any]) -> Printout:
        """Change the faults and say what they are."""
        requester = Requester.objects.filter(name=options["requester"]).first()
        if requester is None:
            raise CommandError(f"There is no requester {options['requester']!r}.")
        names = [one.name for one in fields(Faults)]
        changes = asdict(NO_FAULTS) if options["none"] else {}
        changes |= {name: options[name] for name in names if options[name] is not None}
        faults = change_faults(requester, changes)
        told = ", ".join(f"{name} {value}" for name, value in requester.faults.items())
        lines = [f"{requester.name}: {told or 'nothing goes wrong'}"]
        return {"requester": requester.name, **asdict(faults)}, lines
