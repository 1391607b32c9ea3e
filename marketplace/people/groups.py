"""Groups of workers: kept by the host, addressed by requesters as a qualification."""

from collections.abc import Iterable
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet

from marketplace.models import (
    QualificationType,
    Requester,
    Worker,
    WorkerGroup,
)
from marketplace.notifications.decision_messages import description_of, tell_of_qualification
from marketplace.notifications.system_messages import HOST_ACCOUNT, own_message, system_message
from marketplace.people.qualifications.grants import grant
from marketplace.router import DATABASE

# Groups are qualifications of this account, which has no keys and posts nothing.
# Programs know a group among the qualification types by this keyword.
KEYWORD = "group"
LONGEST_NAME, LONGEST_DESCRIPTION = 200, 2000


class GroupError(ValueError):
    """The group cannot be made; the message says what to change."""


def groups() -> QuerySet[WorkerGroup]:
    """Return the groups by name, each with `n_members`."""
    is_in = Q(qualification_type__grants__is_revoked=False)
    is_here = Q(qualification_type__grants__worker__is_active=True)
    return (
        WorkerGroup.objects.select_related("qualification_type")
        .filter(qualification_type__deleted_at=None)
        .annotate(n_members=Count("qualification_type__grants", filter=is_in & is_here))
        .order_by("qualification_type__name")
    )


def group_name(given: str) -> str:
    """Return a name as a group has it; raises GroupError when it is empty or too long."""
    name = " ".join(given.replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        raise GroupError(f"Write a name of 1 to {LONGEST_NAME} characters.")
    return name


def make_group(name: str, description: str, now: datetime) -> WorkerGroup:
    """Return a new group; raises GroupError when the name is taken, empty or too long."""
    name, own = group_name(name), description.strip()[:LONGEST_DESCRIPTION]
    try:
        with transaction.atomic(using=DATABASE):
            account, _ = Requester.objects.get_or_create(
                name=HOST_ACCOUNT, defaults={"created_at": now}
            )
            row = QualificationType.objects.create(
                requester=account,
                name=name,
                keywords=KEYWORD,
                **(
                    own_message("description", own)
                    if own
                    else system_message("description", "members_of_group", name=name)
                ),
                # Nobody asks to be in a group; the host decides.
                is_active=False,
                created_at=now,
            )
            return WorkerGroup.objects.create(qualification_type=row, created_at=now)
    except IntegrityError:
        raise GroupError(f"There is a group {name} already. Choose another name.") from None


def add_members(
    row: QualificationType, workers: Iterable[Worker], now: datetime, value: int = 1
) -> int:
    """Give workers the qualification with this value and tell them; returns how many that changed.

    Expects a transaction. Locks the type's row.
    """
    # Of two that add somebody at once, one does.
    QualificationType.objects.select_for_update(no_key=True).get(pk=row.pk)
    n_changed = 0
    for worker in workers:
        if not row.grants.filter(worker=worker, is_revoked=False, integer_value=value).exists():
            grant(row, worker, value, now)
            # An invitation may promise a requester's own qualification.
            key = "added_to_group" if hasattr(row, "group") else "qualification_given"
            tell_of_qualification(row, worker, key, description_of(row), now)
            n_changed += 1
    return n_changed


def remove_member(row: QualificationType, worker: Worker, now: datetime) -> bool:
    """Take a worker out of a group and tell them; returns whether they were in it.

    Expects a transaction.
    """
    rows = row.grants.filter(worker=worker, is_revoked=False)
    if not rows.update(is_revoked=True, **system_message("reason", "taken_out_of_group")):
        return False
    why = system_message("text", "taken_out_of_group")
    tell_of_qualification(row, worker, "out_of_group", why, now)
    return True
