"""What the racing processes of `test_pay_races` do."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from common.actions import ActionError
from tests.racing import race


def plan_or_compensate(stage_id: int, leases: list[int], start: float) -> int:
    """Compensate these leases, each in a thread; without any, plan the stage's places."""
    from collector.models import Stage
    from tasks import hits
    from tasks.models import Lease
    from tasks.paying import compensation

    def plan() -> bool:
        stage = Stage.objects.select_related("collection").get(pk=stage_id)
        return hits.plan_postings(stage, timezone.now()) > 0

    def compensate(key: int) -> bool:
        lease = Lease.objects.select_related("unit__stage__collection").get(pk=key)
        return compensation.compensate(lease, 100, "Cut off.", timezone.now()) is not None

    attempts: list[Callable[[], bool]] = [lambda key=key: compensate(key) for key in leases]
    return race(attempts or [plan], start)


def approve_or_propose(by: str, sessions: list[int], start: float) -> int:
    """Propose to reject these assignments as `by`; without a name, approve what is confirmed.

    The marketplace agrees to everything.
    """
    from collector.models import Collection
    from tasks.crowd import marketplace
    from tasks.models import Session
    from tasks.paying import reconcile, rejections

    def agree(operation: str, **given: Any) -> dict[str, Any]:
        return {}

    marketplace.call = agree

    def approve() -> bool:
        return reconcile.approve_confirmed(Collection.objects.get(), timezone.now()) > 0

    def propose(key: int) -> bool:
        try:
            rejections.propose(Session.objects.get(pk=key), "Copied.", by, timezone.now())
        except ActionError:
            return False
        return True

    attempts: list[Callable[[], bool]] = [lambda key=key: propose(key) for key in sessions]
    return race(attempts if by else [approve], start)


def confirm_or_withdraw(by: str, proposals: list[int], start: float) -> int:
    """Confirm these proposals as Grace, or withdraw them as anybody else; say how many it did."""
    from tasks.models import Rejection
    from tasks.paying import rejections

    act = rejections.confirm if by == "grace" else rejections.withdraw
    rows = [Rejection.objects.get(pk=key) for key in proposals]

    def one(row: Rejection) -> bool:
        try:
            act(row, "I have read it.", by, timezone.now())
        except ActionError:
            return False
        return True

    return race([lambda row=row: one(row) for row in rows], start)
