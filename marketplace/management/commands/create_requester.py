"""Opens a requester's account and writes its keys."""

from argparse import ArgumentParser
from decimal import Decimal
from pathlib import Path
from typing import Any

from common.command_line import MANAGE, Printout, ResultCommand, amount
from marketplace import clock
from marketplace.amounts import price_of
from marketplace.configuration import default_balance_cents, local_address, own_address
from marketplace.people.accounts import (
    OtherFile,
    check_keys_file,
    keys_of,
    open_requester,
    write_keys,
)


class Command(ResultCommand):
    """`create_requester "Rita's lab" --keys-file var/rita.json`."""

    help = (
        "Open a requester's account and write what its boto3 client needs to a file.\n"
        "Running it again keeps the account and its keys. A file that holds anything else than\n"
        "this requester's keys is left as it is.\n\nExample:\n"
        f'  {MANAGE} create_requester "Rita\'s lab" --keys-file rita.json\n\n'
        "  client = boto3.client('mturk', region_name='us-east-1',\n"
        "      endpoint_url=keys['endpoint_url'], aws_access_key_id=keys['access_key_id'],\n"
        "      aws_secret_access_key=keys['secret_access_key'])"
    )

    refusals = (OtherFile,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("name", help="the requester's name, as workers see it")
        parser.add_argument("--contact", default="", help="where workers can write to")
        parser.add_argument("--keys-file", required=True, type=Path, help="JSON to write (0600)")
        parser.add_argument(
            "--endpoint-url",
            default="",
            help="where programs reach this marketplace, if not at MARKETPLACE_BASE_URL",
        )
        parser.add_argument(
            "--balance",
            type=amount,
            default=None,
            help="credit to open with, like 500.00; no money moves, it only bounds what is posted",
        )
        parser.add_argument(
            "--payment-terms",
            default="",
            help="how and by when this requester pays, as workers read it before they accept",
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Open or find the account and write its keys."""
        now = clock.now()
        balance, path = options["balance"], Path(options["keys_file"])
        cents = default_balance_cents() if balance is None else int(Decimal(balance) * 100)
        check_keys_file(options["name"], path)
        requester = open_requester(
            options["name"], options["contact"], cents, now, options["payment_terms"]
        )
        endpoint = options["endpoint_url"] or own_address() or local_address()
        write_keys(keys_of(requester, endpoint, now), path)
        requester.refresh_from_db()
        found = {"requester": requester.name, "balance_cents": requester.balance_cents}
        return {**found, "keys_file": str(path)}, [
            f"{requester.name}: {price_of(requester.balance_cents)} free; keys in {path}"
        ]
