"""Stands in for the requester who reads what simulated workers handed in to qualify."""

from datetime import datetime
from types import ModuleType

from collector.models import Collection
from tasks.kinds import kind
from tasks.models import Grant, GrantState, Submission
from tasks.qualifications import decide

INSPECTOR = "simulation"


def inspect_waiting(collection: Collection, simulated: ModuleType, now: datetime) -> list[bool]:
    """Grant or decline every simulated worker's submission that waits; returns what was decided.

    The protocol's part `simulated` says by which rule. What a person made is left to a person.
    """
    waiting = Grant.objects.filter(
        qualification__stage__collection=collection,
        state=GrantState.SUBMITTED,
        worker__synthetic=True,
    ).select_related("qualification__stage")
    decided = []
    for grant in waiting:
        stage = grant.qualification.stage
        submission = (
            Submission.objects.filter(lease__unit__stage=stage, lease__worker_id=grant.worker_id)
            .select_related("lease__unit__stage__collection__corpus")
            .order_by("-id")
            .first()
        )
        if submission is None:
            continue
        items = kind(stage.kind).page_items(submission.lease.unit)
        granted, note = simulated.inspect(stage.kind, submission.raw, items)
        decide(grant, granted=granted, note=note, by=INSPECTOR, now=now)
        decided.append(granted)
    return decided
