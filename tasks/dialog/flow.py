"""How much a socket may send: enough for whoever writes fast, little for whoever floods."""

from dataclasses import dataclass

BURST = 40.0
PER_SECOND = 2.0


@dataclass
class Flow:
    """Lets BURST messages through at once, and PER_SECOND for ever."""

    left: float = BURST
    at: float | None = None

    def wait_seconds(self, now: float) -> float:
        """Return 0 for a message that is let through, else how long to wait before the next try.

        now: seconds of any clock that never goes back.
        """
        if self.at is not None:
            self.left = min(BURST, self.left + PER_SECOND * (now - self.at))
        self.at = now
        if self.left >= 1:
            self.left -= 1
            return 0.0
        return (1 - self.left) / PER_SECOND
