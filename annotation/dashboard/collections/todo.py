"""The list of what needs a requester's attention in one collection, each with where to go."""

from dataclasses import dataclass

from annotation.dashboard.collection_context import Desk
from annotation.dashboard.collections.progress import StageProgress
from annotation.reports.attention import Attention
from tasks.models import GrantState

# What waits for a decision about pay; each name is a list of the assignments page.
DECISIONS = {
    "unmatched": (
        "1 HIT was submitted empty: pay it or look into it",
        "{} HITs were submitted empty: pay them or look into them",
    ),
    "refused": (
        "1 payment was refused by the marketplace: ask again or pay it apart",
        "{} payments were refused by the marketplace: ask again or pay them apart",
    ),
    "proposed": (
        "1 rejection is proposed: confirm or withdraw it",
        "{} rejections are proposed: confirm or withdraw them",
    ),
}


@dataclass(frozen=True)
class Todo:
    """`urgent` things cost a worker time or money."""

    sentence: str
    url: str
    urgent: bool = False


def todo_of(desk: Desk, stages: list[StageProgress], attention: Attention) -> list[Todo]:
    """Return what waits, the urgent first; no query."""
    found = []
    for row in stages:
        waiting = row.grants.get(GrantState.SUBMITTED, 0)
        if waiting:
            sentence = f"{_counted(waiting, 'submission')} to inspect: {row.stage}"
            found.append(Todo(sentence, desk.url("qualification", stage=row.stage.name), True))
        if row.pace and row.pace.cents_per_hour and row.pace.below_floor:
            hourly = desk.price(row.pace.cents_per_hour)
            floor = desk.price(desk.parameters.pay.floor_cents_per_hour)
            sentence = f"{row.stage} pays {hourly} an hour, below your floor of {floor}"
            found.append(Todo(sentence, desk.url("money"), True))
    if attention.problems:
        sentence = f"{_counted(attention.problems, 'problem')} reported by workers"
        found.append(Todo(sentence, desk.url("problems"), True))
    if attention.complaints:
        sentence = f"{_counted(attention.complaints, 'report')} of a partner to decide"
        found.append(Todo(sentence, desk.url("partners"), True))
    if attention.unpaid:
        sentence = f"{_counted(attention.unpaid, 'payment')} for cut-off work not made yet"
        found.append(Todo(sentence, desk.url("money"), True))
    if attention.bonuses:
        sentence = f"{_counted(attention.bonuses, 'bonus payment')} refused by the marketplace"
        found.append(Todo(sentence, desk.url("money") + "#refused", True))
    found += decisions_of(desk, attention)
    if attention.left_out:
        sentence = f"{_counted(attention.left_out, 'question')} excluded by the votes"
        found.append(Todo(sentence, desk.url("questions") + "?outcome=dropped"))
    return found


def decisions_of(desk: Desk, attention: Attention) -> list[Todo]:
    """Return the decisions about pay that wait; no query."""
    found = []
    for name, (one, many) in DECISIONS.items():
        number = getattr(attention, name)
        if number:
            sentence = one if number == 1 else many.format(number)
            found.append(Todo(sentence, f"{desk.url('assignments')}?show={name}", True))
    return found


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
