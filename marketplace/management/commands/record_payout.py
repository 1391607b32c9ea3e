"""Records a payment made to a worker."""

from argparse import ArgumentParser
from datetime import date
from typing import Any

from common.command_line import MANAGE, Printout, ResultCommand, amount
from marketplace import clock
from marketplace.amounts import price_of
from marketplace.payouts import PayoutError, record_payout


class Command(ResultCommand):
    """`record_payout A1B2… 12.50 --method "bank transfer" --reference 2026-11-0042`."""

    help = (
        "Record that a worker was paid, outside the marketplace, what they were owed.\n"
        "A reference counts once, so running it again changes nothing.\n\nExample:\n"
        f"  {MANAGE} record_payout A2XK41 12.50 --method 'bank transfer' --reference 2026-11-0042"
    )

    refusals = (PayoutError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the command's arguments."""
        parser.add_argument("worker_id", help="the worker's id")
        parser.add_argument("amount", type=amount, help="the sum, like 12.50")
        parser.add_argument("--method", required=True, help="how it was paid")
        parser.add_argument("--reference", required=True, help="the payment's own number")
        parser.add_argument("--date", type=date.fromisoformat, default=None, help="2026-11-20")

    def result(self, options: dict[str, Any]) -> Printout:
        """Record the payment or say in one line why not."""
        now = clock.now()
        payout = record_payout(
            options["worker_id"],
            int(options["amount"] * 100),
            options["date"] or now.date(),
            options["method"],
            options["reference"],
            now,
        )
        paid = {"worker": options["worker_id"], "amount_cents": payout.amount_cents}
        return {**paid, "paid_on": str(payout.paid_on)}, [
            f"{price_of(payout.amount_cents)} to {options['worker_id']} on "
            f"{payout.paid_on} ({payout.method}, {payout.reference})"
        ]
