"""What a crash, or a hand in the database, can leave in the marketplace's rows."""

from django.db.models import Count, F, Q

from common.checkup import Check, index_check
from marketplace import clock, funds
from marketplace.funds import account_differences
from marketplace.hits.lifecycle import locked, update_counters
from marketplace.models import (
    HIT,
    Assignment,
    AssignmentState,
    BonusPayment,
    LedgerEntry,
    LedgerKind,
    Requester,
)
from marketplace.router import DATABASE, atomic


def wrong_counters() -> list[str]:
    """Return the HITs that count other work than there is."""
    return [f"HIT {hit.hit_id}" for hit in _wrong_counters()]


def _wrong_counters() -> list[HIT]:
    done = [AssignmentState.APPROVED, AssignmentState.REJECTED]
    state = "assignments__state"
    rows = HIT.objects.order_by().annotate(
        pending=Count("assignments", filter=Q(**{state: AssignmentState.ACCEPTED})),
        awaiting=Count("assignments", filter=Q(**{state: AssignmentState.SUBMITTED})),
        completed=Count("assignments", filter=Q(**{f"{state}__in": done})),
    )
    right = {"n_pending": F("pending"), "n_awaiting": F("awaiting"), "n_completed": F("completed")}
    return list(rows.exclude(**right))


def recount() -> None:
    """Bring each in line under its lock, as every change of its work does."""
    now = clock.now()
    for hit in _wrong_counters():
        with locked(now, pk=hit.pk) as row:
            update_counters(row, now)


def missing_entries() -> list[str]:
    """Return the approved work and the bonuses that the ledger does not know."""
    return [
        *(f"reward of assignment {row.assignment_id}" for row in _without_reward()),
        *(f"bonus {row.pk}" for row in _without_bonus()),
    ]


def _without_reward() -> list[Assignment]:
    known = _causes(LedgerKind.REWARD)
    rows = Assignment.objects.filter(state=AssignmentState.APPROVED).select_related("hit")
    return [row for row in rows.iterator() if row.pk not in known]


def _without_bonus() -> list[BonusPayment]:
    known = _causes(LedgerKind.BONUS)
    return [row for row in BonusPayment.objects.iterator() if row.pk not in known]


def _causes(kind: LedgerKind) -> set[int]:
    keys = LedgerEntry.objects.filter(kind=kind).values_list("key", flat=True)
    return {int(key.rpartition(":")[2]) for key in keys.iterator()}


def enter_missing() -> None:
    """Enter them: the worker is owed what they did."""
    with atomic():
        for work in _without_reward():
            at = work.approved_at or clock.now()
            requester, worker = work.hit.requester_id, work.worker_id
            funds.owe(LedgerKind.REWARD, work.pk, requester, worker, work.reward_cents, at)
        for bonus in _without_bonus():
            funds.owe(
                LedgerKind.BONUS,
                bonus.pk,
                bonus.requester_id,
                bonus.worker_id,
                bonus.amount_cents,
                bonus.granted_at,
            )


def wrong_accounts() -> list[str]:
    """Return the accounts that have or hold other than the ledger and their HITs say."""
    return [
        f"{row.name}: {row.ledger} cents more than the ledger, {row.held} cents more held"
        for row in account_differences()
    ]


def mend_accounts() -> None:
    """Set what each account holds by its HITs, and what it has free by the ledger."""
    with atomic():
        list(Requester.objects.select_for_update())
        for row in account_differences():
            Requester.objects.filter(pk=row.requester_id).update(
                held_cents=F("held_cents") - row.held,
                balance_cents=F("balance_cents") - row.ledger + row.held,
            )


CHECKS = (
    Check(
        "marketplace: HITs",
        "A HIT counts other work than there is.",
        "counts its assignments anew",
        wrong_counters,
        recount,
    ),
    Check(
        "marketplace: ledger entries",
        "Work was approved, or a bonus sent, and the ledger does not owe it.",
        "enters it",
        missing_entries,
        enter_missing,
    ),
    Check(
        "marketplace: accounts",
        "A requester's account differs from the ledger, or holds other than its HITs do.",
        "lets the account say what they say; where it has spent more than it was credited, the "
        "host credits it first",
        wrong_accounts,
        mend_accounts,
    ),
    index_check(DATABASE, ("marketplace",)),
)
