"""What people were called at MTurk: a requester who names somebody so reads that id everywhere."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from marketplace.models import Assignment, Worker, WorkerProfile
from marketplace.people.account_merge import merge
from marketplace.router import DATABASE


def workers_named(
    ids: Iterable[str], requester_id: int, *, is_awaiting: bool = False
) -> dict[str, Worker]:
    """Return the accounts that these ids name, by id; unknown ones are left out.

    An id is one given out here or, for people who were imported, the one they had at MTurk, so that
    lists of old keep their meaning. That of a second account goes on naming the person. A place
    that only others keep for somebody is unknown, unless the requester is awaiting them too.
    """
    wanted = set(ids)
    rows = Worker.objects.select_related("merged_into", "profile").filter(
        Q(worker_id__in=wanted) | Q(profile__mturk_id__in=wanted)
    )
    if not is_awaiting:
        theirs = WorkerProfile.objects.filter(named_by=requester_id).values("worker")
        rows = rows.exclude(~Q(pk__in=theirs), is_awaited=True, merged_into=None)
    old, own = {}, {}
    for row in rows:
        account = row.merged_into or row
        own[row.worker_id] = account
        if profile := getattr(row, "profile", None):
            old[profile.mturk_id or ""] = account
    # Should an old id be somebody else's here, the one given out here counts.
    _remember([row for name, row in old.items() if name in wanted - own.keys()], requester_id)
    return {name: account for name, account in {**old, **own}.items() if name in wanted}


def _remember(named: list[Worker], requester_id: int) -> None:
    """Keep that the requester calls these people by their old ids.

    Whoever has taken a HIT of theirs is known to them by another id, and that does not change.
    """
    took = Assignment.objects.filter(hit__requester=requester_id, worker__in=named)
    known = set(took.values_list("worker", flat=True)) if named else set()
    for row in named:
        if row.pk not in known:
            row.profile.named_by.add(requester_id)


def await_worker(old_id: str, requester_id: int, now: datetime) -> Worker:
    """Return an account for somebody who has not come: it is theirs once they come by this id."""
    try:
        with transaction.atomic(using=DATABASE):
            worker = Worker.objects.create(
                display_name=old_id, is_active=False, is_awaited=True, created_at=now
            )
            profile = WorkerProfile.objects.create(worker=worker, mturk_id=old_id)
            profile.named_by.add(requester_id)
    except IntegrityError:
        # Somebody else named them meanwhile.
        return workers_named([old_id], requester_id, is_awaiting=True)[old_id]
    return worker


def forget_name(worker: Worker, old_id: str) -> None:
    """Drop a worker's old id unless it is this one: who named them by it must not read this one."""
    own = WorkerProfile.objects.filter(worker=worker, mturk_id__isnull=False)
    for profile in own.exclude(mturk_id=old_id):
        profile.named_by.clear()
        profile.mturk_id = None
        profile.save(update_fields=["mturk_id"])


def take_place(kept: Worker, old_id: str, now: datetime) -> None:
    """Give a worker what waits for whoever comes by this id; expects a transaction."""
    forget_name(kept, old_id)
    awaited = Worker.objects.filter(is_awaited=True, merged_into=None, profile__mturk_id=old_id)
    # A program is nobody's place.
    if (second := awaited.first()) and kept.is_active and not kept.is_simulated:
        merge(kept, second, now)


def called(requester_id: int, ids: Iterable[str] | None = None) -> dict[str, str]:
    """Return the old ids that a requester knows workers by, by (these) ids given out here."""
    profiles = WorkerProfile.objects.filter(named_by=requester_id, mturk_id__isnull=False)
    if ids is not None:
        profiles = profiles.filter(worker__worker_id__in=ids)
    rows = profiles.values_list("worker__worker_id", "mturk_id")
    return {own: str(old) for own, old in rows}


def with_old_ids(requester_id: int, reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply of the API with each worker as the requester calls them."""
    rows = [
        row
        for value in reply.values()
        for row in (value if isinstance(value, list) else [value])
        if isinstance(row, dict) and "WorkerId" in row
    ]
    old = called(requester_id, [row["WorkerId"] for row in rows]) if rows else {}
    for row in rows:
        row["WorkerId"] = old.get(row["WorkerId"], row["WorkerId"])
    return reply
