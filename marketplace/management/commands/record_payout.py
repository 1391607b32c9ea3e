"""Records a payment made to a worker."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from common.command_line import MANAGE, amount
from marketplace import clock
from marketplace.amounts import price_of
from marketplace.money.payouts import PayoutError, record_payout


class Command(BaseCommand):
    """`record_payout A1B2… 12.50 --method "bank transfer" --reference 2026-11-0042`."""

    help = (
        "Record that a worker was paid, outside the marketplace, what they were owed.\n"
        "A reference counts once, so running it again changes nothing.\n\nExample:\n"
        f"  {MANAGE} record_payout A2XK41 12.50 --method 'bank transfer' --reference 2026-11-0042"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.add_argument("worker_id", help="the worker's id")
        parser.add_argument("amount", type=amount, help="the sum, like 12.50")
        parser.add_argument("--method", required=True, help="how it was paid")
        parser.add_argument("--reference", required=True, help="the payment's own number")
        parser.add_argument("--date", type=date.fromisoformat, default=None, help="2026-11-20")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Record the payment or say in one line why not."""
        now = clock.now()
        try:
            payout = record_payout(
                options["worker_id"],
                int(options["amount"] * 100),
                options["date"] or now.date(),
                options["method"],
                options["reference"],
                now,
            )
        except PayoutError as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            paid = {"worker": options["worker_id"], "amount_cents": payout.amount_cents}
            self.stdout.write(json.dumps({**paid, "paid_on": str(payout.paid_on)}))
            return
        self.stdout.write(
            f"{price_of(payout.amount_cents)} to {options['worker_id']} on "
            f"{payout.paid_on} ({payout.method}, {payout.reference})"
        )
