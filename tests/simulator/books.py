"""The books of both halves, each sum by one statement; they balance to the cent at any moment."""

from collections.abc import Iterator
from typing import Any

from django.db import connections

BUDGETS = """
SELECT c.slug, c.spent_cents, c.reserved_cents, c.budget_cents,
  (SELECT COALESCE(SUM(amount_cents + fee_cents), 0) FROM tasks_payment
    WHERE collection_id = c.id AND state <> 'withheld'),
  (SELECT COALESCE(SUM(reserved_cents), 0) FROM tasks_posting
    WHERE stage_id IN (SELECT id FROM collector_stage WHERE collection_id = c.id))
  + (SELECT COALESCE(SUM(l.reserved_cents), 0) FROM tasks_lease l
    JOIN tasks_unit u ON u.id = l.unit_id JOIN collector_stage s ON s.id = u.stage_id
    WHERE s.collection_id = c.id)
  + (SELECT COALESCE(SUM(reserved_cents), 0) FROM tasks_ticket
    WHERE stage_id IN (SELECT id FROM collector_stage WHERE collection_id = c.id))
  + (SELECT COALESCE(SUM(reserved_cents), 0) FROM tasks_dialog WHERE NOT settled
    AND stage_id IN (SELECT id FROM collector_stage WHERE collection_id = c.id))
  + (SELECT COALESCE(SUM(held_cents - paid_cents), 0) FROM tasks_bonusfund
    WHERE stage_id IN (SELECT id FROM collector_stage WHERE collection_id = c.id))
FROM collector_collection c
"""
ACCOUNTS = """
SELECT r.name, r.balance_cents, r.held_cents,
  (SELECT COALESCE(SUM(held_cents), 0) FROM marketplace_hit WHERE requester_id = r.id),
  (SELECT COALESCE(SUM(CASE WHEN kind = 'credit' THEN amount_cents ELSE 0 END), 0)
    FROM marketplace_ledgerentry WHERE requester_id = r.id),
  (SELECT COALESCE(SUM(CASE WHEN kind IN ('reward', 'bonus') THEN amount_cents ELSE 0 END), 0)
    FROM marketplace_ledgerentry WHERE requester_id = r.id)
FROM marketplace_requester r
"""


def imbalances() -> Iterator[str]:
    """Yield in which way a budget or an account is not what its rows sum up to."""
    with connections["default"].cursor() as cursor:
        cursor.execute(BUDGETS)
        for slug, spent, reserved, budget, paid, held in cursor.fetchall():
            if (spent, reserved) != (paid, held):
                yield f"books: {slug} says {spent} and {reserved} cents, its rows {paid} and {held}"
            if spent + reserved > budget:
                yield f"books: {slug} binds {spent + reserved} of {budget} cents"
    with connections["marketplace"].cursor() as cursor:
        cursor.execute(ACCOUNTS)
        for name, free, said, held, credit, earned in cursor.fetchall():
            if said != held or credit != free + held + earned:
                yield f"books: {name}'s account, {credit} cents: {free}, {said}, {held}, {earned}"


GIVEN = """
SELECT COALESCE(SUM(amount_cents + fee_cents), 0) FROM tasks_payment
WHERE collection_id = %s AND by <> '' AND state <> 'withheld'
"""


def maximum_said(collection: Any) -> int:
    """Return what a collection costs at most, in cents, by what its page said when it was opened.

    Left out is what people gave beside, and what the collection's changes say that it costs more.
    """
    raised = collection.revisions.filter(key="maximum_cents")
    collection.refresh_from_db()
    more = sum(each.new - each.old for each in raised)
    return (collection.maximum_cents or 0) - given_beside(collection) - more


def given_beside(collection: Any) -> int:
    """Return the cents, fees included, that people gave by hand."""
    with connections["default"].cursor() as cursor:
        cursor.execute(GIVEN, [collection.pk])
        return int(cursor.fetchone()[0])


def version() -> tuple[int, ...]:
    """Return what is another after each change of either database by another process."""
    found = []
    for name in ("default", "marketplace"):
        with connections[name].cursor() as cursor:
            sqlite = connections[name].vendor == "sqlite"
            now = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
            cursor.execute("PRAGMA data_version" if sqlite else now)
            found.append(int(cursor.fetchone()[0]))
    return tuple(found)


def confirmed_and_owed(requester: str) -> tuple[int, int]:
    """Return the cents that are confirmed as paid here, and that the marketplace owes or paid."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT COALESCE(SUM(amount_cents), 0) FROM tasks_payment WHERE state = 'confirmed'"
        )
        ours = int(cursor.fetchone()[0])
    with connections["marketplace"].cursor() as cursor:
        cursor.execute(
            "SELECT COALESCE(SUM(e.amount_cents), 0) FROM marketplace_ledgerentry e "
            "JOIN marketplace_requester r ON r.id = e.requester_id "
            "WHERE r.name = %s AND e.kind IN ('reward', 'bonus')",
            [requester],
        )
        return ours, int(cursor.fetchone()[0])
