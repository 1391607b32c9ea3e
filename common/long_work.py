"""One way to run what takes long: a row is claimed, the claim renewed, all tried three times.

A process that is killed, or whose machine stops, has made one of the tries: tries are counted when
the claim is taken.
"""

import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Self

from django.db import DatabaseError, IntegrityError, connection, models, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from common.actions import ActionError, Broken
from common.wrong_clocks import CLOCK, over

log = logging.getLogger(__name__)
# A claim that was not renewed for this time is free: its process has died.
SILENT = timedelta(minutes=1)
RENEW_SECONDS = 5.0
# After the first try and the second; none is longer than a claim.
PAUSES = (timedelta(seconds=10), SILENT)
MOST_ATTEMPTS = len(PAUSES) + 1
BROKEN = "It broke on our side; the server's log says how."
DIED = "It was tried three times, and each time its process ended without a word."


class WorkState(models.TextChoices):
    """Where work stands; any free process takes what waits, and leftovers of a killed process."""

    WAITING = "waiting", "Waiting to begin"
    RUNNING = "running", "Under way"
    DONE = "done", "Done"
    FAILED = "failed", "Not done"
    STOPPED = "stopped", "Stopped"


class LostClaim(Exception):
    """Somebody else has the work, or it was stopped."""


class LongWork(models.Model):
    """Work that somebody asked for.

    `claim` is the secret of the process that works on it, `claimed_by` names its machine. No other
    process may take it before `free_at`, which is blank at first. `step` says what it is at,
    `share_done` how much of that is done, from 0 to 1, and `message` how it ended.
    """

    GOING_ON: tuple[str, ...] = (WorkState.WAITING, WorkState.RUNNING)
    # What would be refused again: it is not tried again.
    REFUSALS: tuple[type[Exception], ...] = (ActionError,)

    state = models.CharField(max_length=20, choices=WorkState.choices, default=WorkState.WAITING)
    step = models.CharField(max_length=120, blank=True)
    share_done = models.FloatField(default=0)
    message = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.CharField(max_length=32, blank=True)
    claimed_by = models.CharField(max_length=200, blank=True)
    free_at = models.DateTimeField(null=True, blank=True)
    by = models.CharField(max_length=150, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["-asked_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=WorkState.values), name="%(class)s_state_is_known"
            )
        ]

    def __str__(self) -> str:
        return self.get_state_display()

    @property
    def is_going_on(self) -> bool:
        """Return whether it waits or is under way."""
        return self.state in self.GOING_ON

    @property
    def is_given_up(self) -> bool:
        """Return whether it broke every time, and may not once more."""
        return self.state == WorkState.FAILED and self.attempts >= MOST_ATTEMPTS

    @classmethod
    def ask(cls, **fields: Any) -> Self | None:
        """Return the new row, None where the same is under way already."""
        try:
            with transaction.atomic():
                return cls._default_manager.create(**fields)
        except IntegrityError:
            return None

    @classmethod
    def free(cls, now: datetime) -> QuerySet[Self]:
        """Return what finds the work that nobody living is at."""
        silent = over("free_at", now, SILENT)
        if CLOCK.has_jumped():
            # The process that holds the claim has slept too, and renews it in a moment.
            silent &= Q(state=WorkState.WAITING)
        free = Q(free_at__isnull=True) | silent
        return cls._default_manager.filter(free, state__in=cls.GOING_ON)

    @classmethod
    def due(cls, now: datetime) -> list[int]:
        """Return the ids of what somebody may take up now, the longest asked for first."""
        return list(cls.free(now).order_by("asked_at", "pk").values_list("pk", flat=True))

    @classmethod
    def take(cls, pk: int, now: datetime) -> Self | None:
        """Return the row under a claim of ours, None where somebody else has it or it is over.

        What was tried too often ends here.
        """
        free, claim = cls.free(now).filter(pk=pk), secrets.token_hex(16)
        ends = {"state": WorkState.FAILED, "step": "", "message": DIED, "ended_at": now}
        if free.filter(attempts__gte=MOST_ATTEMPTS).update(**ends):
            return None
        try:
            with transaction.atomic():
                free.update(
                    state=WorkState.RUNNING,
                    attempts=F("attempts") + 1,
                    claim=claim,
                    claimed_by=f"{socket.gethostname()} {os.getpid()}"[:200],
                    free_at=now + SILENT,
                    step="",
                    share_done=0,
                    message="",
                )
        except IntegrityError:
            # Of some work one row alone may be under way.
            return None
        return cls.claimed(pk, claim)

    @classmethod
    def claimed(cls, pk: int, claim: str) -> Self | None:
        """Return the row if it is under this claim."""
        rows = cls._default_manager.filter(pk=pk, claim=claim, state=WorkState.RUNNING)
        return rows.first()

    @classmethod
    def do(cls, pk: int, now: datetime, work: Callable[[Self], object]) -> bool:
        """Return whether this call took the work up and did it; see `carry_out`."""
        row = cls.take(pk, now)
        return row is not None and row.carry_out(work)

    def carry_out(self, work: Callable[[Self], object]) -> bool:
        """Return whether `work` came to its end; expects the claim, which is renewed meanwhile.

        What `work` raises is said in the row, and tried again unless it would be refused again.
        """
        try:
            with self.kept():
                work(self)
        except LostClaim:
            log.info("%s %s: taken over, or stopped", type(self).__name__, self.pk)
        except self.REFUSALS as error:
            self.end(WorkState.FAILED, message=getattr(error, "on_page", str(error)))
        except Exception as error:
            log.exception("%s %s", type(self).__name__, self.pk)
            self._break_off(str(error) if isinstance(error, Broken) else BROKEN)
        except BaseException:
            # The signal is meant for this process, not for the work.
            with suppress(LostClaim):
                self.give_back()
            raise
        else:
            return True
        return False

    def kept(self) -> AbstractContextManager[None]:
        """Renew our claim while the block lasts."""
        return renewed(lambda: self.mine().update(free_at=_until()), RENEW_SECONDS)

    def give_back(self, **values: Any) -> None:
        """Have it wait for anybody, as though it had not been taken; raises LostClaim."""
        again = {"attempts": F("attempts") - 1, "free_at": None, "step": "", **values}
        if not self.mine().update(state=WorkState.WAITING, **again):
            raise LostClaim

    def mine(self) -> QuerySet[Self]:
        """Return what finds the row while it is under our claim."""
        rows = type(self)._default_manager.filter(pk=self.pk, claim=self.claim)
        return rows.filter(state=WorkState.RUNNING)

    def say(self, step: str, share: float = 0.0, **values: Any) -> None:
        """Store what we are at; raises LostClaim."""
        now = {"step": step[:120], "share_done": share, "free_at": _until(), **values}
        if not self.mine().update(**now):
            raise LostClaim

    def finish(self, **values: Any) -> None:
        """End the work, done; raises LostClaim, in a transaction so that nothing else is stored."""
        if not self.end(WorkState.DONE, share_done=1, **values):
            raise LostClaim

    def end(self, state: WorkState, **values: Any) -> bool:
        """Return whether it ended so, which it does not where the claim was lost."""
        return bool(self.mine().update(state=state, step="", ended_at=timezone.now(), **values))

    def stop(self, now: datetime) -> bool:
        """Return whether it was stopped; the process that works on it ends within seconds."""
        rows = type(self)._default_manager.filter(pk=self.pk, state__in=self.GOING_ON)
        return bool(rows.update(state=WorkState.STOPPED, step="", ended_at=now))

    def try_again(self) -> bool:
        """Return whether what failed waits again, with all its tries."""
        rows = type(self)._default_manager.filter(pk=self.pk, state=WorkState.FAILED)
        values = {"message": "", "attempts": 0, "free_at": None, "ended_at": None}
        try:
            with transaction.atomic():
                return bool(rows.update(state=WorkState.WAITING, **values))
        except IntegrityError:
            return False

    def _break_off(self, why: str) -> None:
        if self.attempts >= MOST_ATTEMPTS:
            self.end(WorkState.FAILED, message=why)
        else:
            until = timezone.now() + PAUSES[self.attempts - 1]
            self.mine().update(state=WorkState.WAITING, free_at=until, step="", message=why)


def _until() -> datetime:
    return timezone.now() + SILENT


@contextmanager
def renewed(renew: Callable[[], object], seconds: float) -> Iterator[None]:
    """Call `renew` every `seconds`, in a thread of its own, while the block lasts.

    A database that is away is logged and met again the next time. Within a transaction nothing is
    renewed: nobody else sees the claim yet, and on SQLite its renewal would wait for our own end.
    """
    if connection.in_atomic_block:
        yield
        return
    over = threading.Event()

    def keep() -> None:
        while not over.wait(seconds):
            try:
                renew()
            except DatabaseError as error:
                log.warning("%s: %s", type(error).__name__, error)
            finally:
                # Nobody else closes what this thread has opened.
                connection.close()

    keeper = threading.Thread(target=keep, name="claim", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()
