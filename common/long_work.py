"""Runs long work: a process claims its row and renews the claim; work is tried three times.

Tries are counted when the claim is taken. So a process that is killed, or whose machine stops, has
made one of them.
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
# Pauses after the first and the second try; none is longer than a claim.
PAUSES = (timedelta(seconds=10), SILENT)
MOST_ATTEMPTS = len(PAUSES) + 1
BROKEN = "It broke on our side; the server's log says how."
DIED = "It was tried three times, and each time its process ended without a word."


class WorkState(models.TextChoices):
    """The state of work; any free process takes waiting work, and leftovers of a killed process."""

    WAITING = "waiting", "Waiting to begin"
    RUNNING = "running", "Under way"
    DONE = "done", "Done"
    FAILED = "failed", "Not done"
    STOPPED = "stopped", "Stopped"


class LostClaim(Exception):
    """Another process has claimed the work, or the work was stopped."""


class LongWork(models.Model):
    """Long work that was asked for.

    `claim` is the secret of the process that works on it, and `claimed_by` names the process and
    its machine. No other process may take the work before `free_at`, which is blank at first.
    `step` names the current step, `share_done` is how much of it is done, from 0 to 1, and
    `message` says how the work ended.
    """

    GOING_ON: tuple[str, ...] = (WorkState.WAITING, WorkState.RUNNING)
    # Errors that would come again: after them the work is not tried again.
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
        """Return whether it is waiting or running."""
        return self.state in self.GOING_ON

    @property
    def is_given_up(self) -> bool:
        """Return whether it broke at every try; another try, by hand, may succeed."""
        return self.state == WorkState.FAILED and self.attempts >= MOST_ATTEMPTS

    @classmethod
    def ask(cls, **fields: Any) -> Self | None:
        """Return the new row; None if the same work is already going on."""
        try:
            with transaction.atomic():
                return cls._default_manager.create(**fields)
        except IntegrityError:
            return None

    @classmethod
    def free(cls, now: datetime) -> QuerySet[Self]:
        """Return the query for unfinished work that no living process has claimed."""
        silent = over("free_at", now, SILENT)
        if CLOCK.has_jumped():
            # The clock jumped, as after sleep: the process with the claim will soon renew it.
            silent &= Q(state=WorkState.WAITING)
        free = Q(free_at__isnull=True) | silent
        return cls._default_manager.filter(free, state__in=cls.GOING_ON)

    @classmethod
    def due(cls, now: datetime) -> list[int]:
        """Return the ids of the work that can be taken now, the oldest request first."""
        return list(cls.free(now).order_by("asked_at", "pk").values_list("pk", flat=True))

    @classmethod
    def take(cls, pk: int, now: datetime) -> Self | None:
        """Claim the row and return it; None if another process has it or the work has ended.

        Work that has used all its tries fails here.
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
            # For some work, only one row may be running.
            return None
        return cls.claimed(pk, claim)

    @classmethod
    def claimed(cls, pk: int, claim: str) -> Self | None:
        """Return the row if it is under this claim."""
        rows = cls._default_manager.filter(pk=pk, claim=claim, state=WorkState.RUNNING)
        return rows.first()

    @classmethod
    def do(cls, pk: int, now: datetime, work: Callable[[Self], object]) -> bool:
        """Take the work and do it; return whether this call completed it. See `carry_out`."""
        row = cls.take(pk, now)
        return row is not None and row.carry_out(work)

    def carry_out(self, work: Callable[[Self], object]) -> bool:
        """Run `work` and return whether it completed; expects the claim, and renews it meanwhile.

        If `work` raises an error, the row says so, and the work is tried again, unless the error is
        one of REFUSALS.
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
        """Return a context in which our claim is renewed."""
        return renewed(lambda: self.mine().update(free_at=_until()), RENEW_SECONDS)

    def give_back(self, **values: Any) -> None:
        """Give up the claim as if the work had not been taken; raises LostClaim."""
        again = {"attempts": F("attempts") - 1, "free_at": None, "step": "", **values}
        if not self.mine().update(state=WorkState.WAITING, **again):
            raise LostClaim

    def mine(self) -> QuerySet[Self]:
        """Return the query for the row, which finds it only under our claim."""
        rows = type(self)._default_manager.filter(pk=self.pk, claim=self.claim)
        return rows.filter(state=WorkState.RUNNING)

    def say(self, step: str, share: float = 0.0, **values: Any) -> None:
        """Store the current step and renew the claim; raises LostClaim."""
        now = {"step": step[:120], "share_done": share, "free_at": _until(), **values}
        if not self.mine().update(**now):
            raise LostClaim

    def finish(self, **values: Any) -> None:
        """Mark the work as done; raises LostClaim, so that a transaction around it is undone."""
        if not self.end(WorkState.DONE, share_done=1, **values):
            raise LostClaim

    def end(self, state: WorkState, **values: Any) -> bool:
        """End the work in this state; return False if the claim was lost."""
        return bool(self.mine().update(state=state, step="", ended_at=timezone.now(), **values))

    def stop(self, now: datetime) -> bool:
        """Stop the work and return whether it was going on; its process ends within seconds."""
        rows = type(self)._default_manager.filter(pk=self.pk, state__in=self.GOING_ON)
        return bool(rows.update(state=WorkState.STOPPED, step="", ended_at=now))

    def try_again(self) -> bool:
        """Put failed work back to waiting, with all its tries; return whether that was possible."""
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

    If the database cannot be reached, that is logged, and the next call tries again. Within a
    transaction nothing is renewed: no other process sees the claim yet, and on SQLite the renewal
    would wait for our own transaction to end.
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
                # This thread opened the connection, and nothing else closes it.
                connection.close()

    keeper = threading.Thread(target=keep, name="claim", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()
