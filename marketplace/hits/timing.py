"""How long people really take for HITs of one type, else what is estimated, and what that pays."""

from dataclasses import dataclass
from statistics import median

from marketplace.models import Assignment, HITType

# The latest this many submissions count; while fewer people than the least have handed in, the
# requester's estimate stands.
MOST_OBSERVED = 101
LEAST_PEOPLE = 10


@dataclass(frozen=True)
class Time:
    """How long a HIT takes, and whether that is what its requester estimates, not people's time."""

    seconds: int
    is_estimate: bool


def observe(assignment: Assignment) -> None:
    """Note the seconds from accept to submit of a person's assignment that was just handed in.

    Of two submissions at the same moment one may go uncounted, which a median can bear.
    """
    assert assignment.submitted_at is not None
    if assignment.worker.is_simulated:
        return
    seconds = int((assignment.submitted_at - assignment.accepted_at).total_seconds())
    kinds = HITType.objects.filter(pk=assignment.hit.hit_type_id)
    known = kinds.values_list("recent_work", flat=True).get()
    kinds.update(recent_work=[*known, [assignment.worker_id, max(1, seconds)]][-MOST_OBSERVED:])


def time_of(kind: HITType) -> Time | None:
    """Return the median of people's latest times, else the estimate; None where there is none."""
    if len({person for person, _ in kind.recent_work}) >= LEAST_PEOPLE:
        return Time(int(median(seconds for _, seconds in kind.recent_work)), is_estimate=False)
    minutes = kind.stated.expected_minutes
    return Time(60 * minutes, is_estimate=True) if minutes else None


def hourly_cents(kind: HITType) -> int | None:
    """Return the reward per hour at that time; None where it or all of the pay is unknown."""
    time = time_of(kind)
    if time is None or kind.stated.pays_beside:
        return None
    return kind.reward_cents * 3600 // time.seconds
