"""What stands beside a HIT before it is accepted: pay, time, who pays and when, what it needs."""

import re
from dataclasses import dataclass

from marketplace.configuration import granted_cap_seconds
from marketplace.hits.frame_permissions import told
from marketplace.hits.keywords import StatedTerms
from marketplace.hits.timing import Time, hourly_cents, time_of
from marketplace.models import HITType

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
        may_use=told(kind.requester.frame_permissions),
    )


def least_width(kind: HITType) -> int:
    """Return the width in pixels that the task says its page needs at least, 0 for any."""
    found = LEAST_WIDTH.search(kind.keywords)
    return int(found[1]) if found else 0
