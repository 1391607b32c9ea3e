"""Makes a host: somebody who runs the marketplace at its desk."""

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from common.command_line import MANAGE, Printout, ResultCommand
from marketplace import clock
from marketplace.desk.users import UserError, open_user, reset_password
from marketplace.models import AuditEntry, DeskUser, Role
from marketplace.router import atomic


class Command(ResultCommand):
    """`create_host Grace`."""

    help = (
        "Make a host of the marketplace, who signs in at /desk/ with this name.\n"
        "The password is asked for, or read from standard input. With --reset a host who has\n"
        "forgotten it gets a new one, printed once.\n\nExample:\n"
        f"  {MANAGE} create_host Grace"
    )

    refusals = (UserError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("name", help="the name to sign in with")
        parser.add_argument("--reset", action="store_true", help="give this host a new password")

    def result(self, options: dict[str, Any]) -> Printout:
        """Make the account or say in one line why not."""
        name = options["name"]
        if options["reset"]:
            user = DeskUser.objects.filter(name=name, role=Role.HOST).first()
            if user is None:
                raise CommandError(f"There is no host {name}. Make one without --reset.")
            with atomic():
                password = reset_password(user)
                DeskUser.objects.filter(pk=user.pk).update(is_active=True)
                AuditEntry.record(
                    "command create_host", f"Renewed the password of {name}", clock.now()
                )
            return {"host": name, "password": password}, [f"{name}: {password}"]
        with atomic():
            user = open_user(name, _password(), None, clock.now())
            AuditEntry.record("command create_host", f"Made the host {user.name}", clock.now())
        return {"host": user.name}, [f"{user.name} can sign in at /desk/"]


def _password() -> str:
    """Return the password typed twice at a terminal, or the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise CommandError("The two are not the same. Try again.")
    return password
