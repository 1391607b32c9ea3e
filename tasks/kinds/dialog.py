"""Dialog HITs: a ticket to be brought together with a partner; the section comes with them."""

from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from tasks.dialog import rules
from tasks.dialog.limits import limits_of
from tasks.kinds import Promise
from tasks.models import (
    Exposure,
    Lease,
    LeaseState,
    Submission,
    Ticket,
    TicketState,
    Topic,
    Unit,
    Worker,
)
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents

# The types that a requester can correct an answer of this kind to.
CORRECTIONS = ("span", "none")

UNFINISHED = "Your dialog is not over yet: it is handed in when it is."


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out all tickets where nothing is left to talk about that is new to the worker.

    Also where the worker is at another ticket of the stage: nobody is in two dialogs at once.
    """
    at_work = Lease.objects.filter(
        unit__stage=OuterRef("stage"), worker=worker, state=LeaseState.LIVE
    )
    return left_for(units, worker).exclude(Exists(at_work))


def left_for(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out all tickets where nothing is left to talk about that is new to the worker."""
    seen = Exposure.objects.filter(worker=worker).values("seed_id")
    topics = Topic.objects.filter(stage=OuterRef("stage"), taken__lt=F("wanted"))
    return units.filter(Exists(topics.exclude(seed__in=seen)))


def promise(table: Any) -> Promise:
    """Return what a dialog pays beside its HIT's reward: answered questions, and waiting."""
    return Promise(
        bonus_cents=rules.most_cents(limits_of(table)),
        waiting_cents=table.wait_cents_per_minute,
        waiting_minutes=table.wait_minutes if table.wait_cents_per_minute else 0,
        keeps_work=False,
        is_one_at_a_time=True,
    )


def seeds_shown(unit: Unit) -> list[int]:
    """Return nothing: what is talked about is chosen, and noted, when two are paired."""
    return []


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return nothing: the page hears of its dialog over a socket."""
    return []


def limits(table: Any, checks: Any) -> dict[str, Any]:
    """Return nothing: the page hears of its limits over a socket."""
    return {}


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"dialog": [true]}, and what is wrong; whether it is over, `unfinished` knows."""
    if isinstance(data, dict) and data.get("dialog"):
        return {"dialog": [True]}, []
    return {}, [Problem(UNFINISHED)]


def unfinished(lease: Lease) -> list[Problem]:
    """Return what the lease's worker still has to do before they can hand in."""
    if Ticket.objects.filter(lease=lease, state=TicketState.DONE).exists():
        return []
    return [Problem(UNFINISHED)]


def share_done(data: dict[str, Any], wanted: int) -> float:
    """Return how much of the work a draft holds: all or nothing."""
    return 1.0 if data.get("dialog") else 0.0


def store(submission: Submission, data: dict[str, Any]) -> None:
    """Write nothing: turns are kept as they are taken, and settled when a dialog is over."""
