"""Who may do a stage: a person inspects what a worker made, and the provider is told."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from collector.creation import parameters_of
from collector.models import Collection, Stage
from tasks.crowd import marketplace
from tasks.models import Grant, GrantState, Qualification, Submission, Worker


def record_attempt(submission: Submission) -> None:
    """Put a qualification submission before the requester; expects its transaction."""
    lease = submission.lease
    qualification, _ = Qualification.objects.get_or_create(stage=lease.unit.stage)
    Grant.objects.get_or_create(
        qualification=qualification,
        worker_id=lease.worker_id,
        defaults={"submitted_at": submission.received_at},
    )


def is_qualified(worker: Worker, collection: Collection, required: str) -> bool:
    """Return whether the worker holds the qualification of the stage named `required`."""
    return (
        not required
        or Grant.objects.filter(
            worker=worker,
            state=GrantState.GRANTED,
            qualification__stage__collection=collection,
            qualification__stage__name=required,
        ).exists()
    )


def roles_of(worker: Worker, collection: Collection, table: Any) -> tuple[bool, bool]:
    """Return whether the worker may ask and whether they may teach in a stage of dialogs."""
    return (
        is_qualified(worker, collection, table.requires_student),
        is_qualified(worker, collection, table.requires_teacher),
    )


def may_take(worker: Worker, stage: Stage, table: Any) -> bool:
    """Return whether the worker has what the stage asks for; in dialogs, one role is enough."""
    if stage.kind == "dialog" and not any(roles_of(worker, stage.collection, table)):
        return False
    return is_qualified(worker, stage.collection, table.requires)


def decide(grant: Grant, *, granted: bool, note: str, by: str, now: datetime) -> None:
    """Grant or decline; may be decided again, and the newest decision holds."""
    Grant.objects.filter(pk=grant.pk).update(
        state=GrantState.GRANTED if granted else GrantState.DECLINED,
        note=note,
        decided_by=by,
        decided_at=now,
    )


def external_id(stage: Stage) -> str:
    """Return the marketplace's id of the stage's qualification, made on first use."""
    qualification, _ = Qualification.objects.get_or_create(stage=stage)
    if not qualification.external_id:
        table = parameters_of(stage.collection).stages()[stage.name]
        found = marketplace.create_qualification(
            name=f"Passed “{table.title}” ({stage.collection.slug})",
            description=f"{stage.collection.requester_name} grants it after reading what you hand "
            "in to that HIT. There is no need to ask for it.",
        )
        Qualification.objects.filter(pk=qualification.pk).update(external_id=found)
        return found
    return qualification.external_id


def untold(stages: Iterable[Stage]) -> list[Stage]:
    """Return those of the stages about which there is something to tell the marketplace."""
    known = {stage.pk: stage for stage in stages}
    found = _untold(known).values_list("qualification__stage", flat=True)
    return [known[stage] for stage in found.order_by("qualification__stage").distinct()]


def tell_marketplace(stage: Stage) -> int:
    """Bring the marketplace up to date on every decision; returns how many were told.

    Whoever it does not know is logged and asked about again in the next round.
    """
    waiting = _untold([stage.pk]).select_related("worker__identity")
    grants = list(waiting)
    known = external_id(stage) if any(map(_concerns_marketplace, grants)) else ""
    return marketplace.one_by_one(grants, lambda grant: _tell(grant, known))


def _untold(stages: Iterable[int]) -> QuerySet[Grant]:
    return Grant.objects.filter(
        qualification__stage__in=stages,
        state__in=[GrantState.GRANTED, GrantState.DECLINED],
        worker__identity__isnull=False,
    ).exclude(state=F("told_state"))


def _concerns_marketplace(grant: Grant) -> bool:
    return GrantState.GRANTED in (grant.state, grant.told_state)


def _tell(grant: Grant, known: str) -> int:
    """Give or take the qualification `known` to the marketplace; who never had it loses nothing."""
    person = grant.worker.identity.person
    if grant.state == GrantState.GRANTED:
        marketplace.grant(known, person)
    elif grant.told_state == GrantState.GRANTED:
        marketplace.revoke(known, person, grant.note)
    return Grant.objects.filter(pk=grant.pk).update(told_state=grant.state)
