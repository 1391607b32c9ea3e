"""Stands in for the requester who reads what simulated workers handed in to qualify."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import orjson

from collector.models import Collection
from tasks.models import Grant, GrantState, Lease, Submission
from tasks.people.qualifications import decide
from tasks.work.kinds.kind import Item
from tasks.work.kinds.registry import kind_of
from tasks.work.reading import article_page

INSPECTOR = "simulation"


def inspect_waiting(
    collection: Collection, judge: Callable[..., tuple[bool, str]], now: datetime
) -> list[bool]:
    """Grant or decline every simulated worker's submission that waits; returns what was decided.

    judge: the protocol's `inspect`. What a person made is left to a person.
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
        lease = submission.lease
        items = kind_of(stage).page_items(lease.unit)
        granted, note = judge(stage.kind, submission.raw, items, _opener(lease, items))
        decide(grant, granted=granted, note=note, by=INSPECTOR, now=now)
        decided.append(granted)
    return decided


def _opener(lease: Lease, items: list[Item]) -> Callable[[str, str], Any]:
    """Return what opens a linked article as the worker's page does."""

    def open_article(item: str, title: str) -> Any:
        page = article_page(lease, items, item, title)
        return orjson.loads(page) if page else None

    return open_article
