"""What stands beside a HIT before it is accepted: pay, time, who pays and when, what it needs."""

import re
from dataclasses import dataclass
from statistics import median

from django.utils.translation import gettext, gettext_noop

from marketplace.configuration import granted_cap_seconds
from marketplace.models import Assignment, HITType
from marketplace.models.keywords import StatedTerms

# By the names of the Permissions Policy, in the order in which workers read them.
PERMISSIONS = {
    "fullscreen": gettext_noop("the whole screen"),
    "microphone": gettext_noop("your microphone"),
    "camera": gettext_noop("your camera"),
    "autoplay": gettext_noop("sound that begins by itself"),
    "clipboard-write": gettext_noop("writing to your clipboard"),
}
LABELS = {
    "fullscreen": "Fill the screen",
    "microphone": "Use the microphone",
    "camera": "Use the camera",
    "autoplay": "Play sound without a click",
    "clipboard-write": "Write to the clipboard",
}

# Without these a task that needs them stands still, and says nothing.
HALTING = ("fullscreen", "microphone", "camera")


def allow_of(permissions: str, question_kind: str) -> str:
    """Return the `allow` of a task's frame; permissions: names of PERMISSIONS between blanks.

    A page of the requester's own HTML has no origin that could be named: its frame has only it.
    """
    whom = "" if question_kind == "external" else " *"
    return "; ".join(f"{name}{whom}" for name in permissions.split())


def permissions_in_words(permissions: str) -> str:
    """Return what a task may use, in the active language, blank for nothing."""
    return ", ".join(gettext(PERMISSIONS[name]) for name in permissions.split())


def missing_permissions(permissions: str, question_kind: str) -> str:
    """Return what a task may not use and may wait for in vain, in the active language."""
    if question_kind == "form":
        return ""
    return permissions_in_words(
        " ".join(name for name in HALTING if name not in permissions.split())
    )


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


# A requester states it among the keywords of a HIT type: `min-width:1024`, in CSS pixels.
LEAST_WIDTH = re.compile(r"(?:^|[\s,])min-width\s*[:=]\s*(\d{3,4})(?:px)?(?=$|[\s,])", re.I)


@dataclass(frozen=True)
class Facts:
    """One HIT type in numbers; None and 0 and "" mean that nothing is known or stated."""

    kind: HITType
    hourly_cents: int | None
    time: Time | None
    least_width: int
    terms: str
    may_use: str

    @property
    def decided_seconds(self) -> int:
        """Return within how long work is decided, else approved, as the host allows it now."""
        return int(min(self.kind.auto_approval_delay_seconds, granted_cap_seconds()))

    @property
    def rejected_seconds(self) -> int | None:
        """Return until when its requester says that work can be rejected; None if unsaid."""
        minutes = self.stated.rejected_within_minutes
        return None if minutes is None else min(60 * minutes, self.decided_seconds)

    @property
    def stated(self) -> StatedTerms:
        """Return what its requester states of pay and time."""
        return self.kind.stated

    @property
    def seconds(self) -> int:
        """Return how long it takes, the time allotted where nothing is known."""
        return self.time.seconds if self.time else self.kind.assignment_duration_seconds


def facts_of(kind: HITType, house_terms: str) -> Facts:
    """Return the facts of a HIT type; expects its requester loaded.

    house_terms: how the host pays, `configuration.payment_terms()`, read once for a whole list.
    """
    return Facts(
        kind=kind,
        hourly_cents=hourly_cents(kind),
        time=time_of(kind),
        least_width=least_width(kind),
        terms=kind.requester.payment_terms or house_terms,
        may_use=permissions_in_words(kind.requester.frame_permissions),
    )


def least_width(kind: HITType) -> int:
    """Return the width in pixels that the task says its page needs at least, 0 for any."""
    found = LEAST_WIDTH.search(kind.keywords)
    return int(found[1]) if found else 0
