"""The database backend that settings name as `common.postgresql`: Django looks for it here."""

import math
import select
import time

from django.db.backends.postgresql import base

# A connection that has been used this lately is looked at, not asked.
LATELY_SECONDS = 1.0


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that is kept between requests, and checked once at the beginning of each.

    To ask a database whether it is there costs as much as a page's own statement. One that goes
    away says so, or closes the connection: then there is something to read on it before anything
    was asked, and that the kernel knows without a question.
    """

    _usable_at = -math.inf

    def is_usable(self) -> bool:
        """Return whether the database still answers on this connection."""
        now = time.monotonic()
        was_used_lately = now - self._usable_at < LATELY_SECONDS and not self.errors_occurred
        if not (was_used_lately and self._is_silent()) and not super().is_usable():
            return False
        self._usable_at = now
        return True

    def _is_silent(self) -> bool:
        """Return whether the connection is open and nothing is to be read from it."""
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0)
