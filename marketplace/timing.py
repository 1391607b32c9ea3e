"""How long workers really take for HITs of one type, and what that makes an hour."""

from statistics import median

from marketplace.models import Assignment, HITType

# The latest this many submissions count; with fewer than the least nothing is said.
MOST_OBSERVED = 101
LEAST_OBSERVED = 3


def observe(assignment: Assignment) -> None:
    """Note the seconds from accept to submit of an assignment that was just handed in.

    Of two submissions at the same moment one may go uncounted, which a median can bear.
    """
    assert assignment.submitted_at is not None
    seconds = int((assignment.submitted_at - assignment.accepted_at).total_seconds())
    kinds = HITType.objects.filter(pk=assignment.hit.hit_type_id)
    known = kinds.values_list("recent_seconds", flat=True).get()
    kinds.update(recent_seconds=[*known, max(1, seconds)][-MOST_OBSERVED:])


def usual_seconds(kind: HITType) -> int | None:
    """Return the median of the latest times, None while there are too few to tell."""
    if len(kind.recent_seconds) < LEAST_OBSERVED:
        return None
    return int(median(kind.recent_seconds))


def hourly_cents(kind: HITType) -> int | None:
    """Return the reward per hour at the usual time, bonuses left out; None while unknown."""
    seconds = usual_seconds(kind)
    return None if seconds is None else kind.reward_cents * 3600 // seconds
