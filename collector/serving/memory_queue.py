"""Celery's queue within one process, where a job that is sent wakes whoever takes it up."""

from queue import Empty
from threading import Event
from typing import Any

from kombu.transport import memory

# Something was sent, or there is room for what had been.
_changed = Event()


class Channel(memory.Channel):  # type: ignore[misc]
    """A channel that tells of each message it puts into a queue, and of each that is taken up."""

    def _put(self, queue: str, message: Any, **options: Any) -> None:
        super()._put(queue, message, **options)
        _changed.set()

    def _put_fanout(
        self, exchange: str, message: Any, routing_key: Any = None, **options: Any
    ) -> None:
        super()._put_fanout(exchange, message, routing_key, **options)
        _changed.set()

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Note that a message was taken up."""
        super().basic_ack(delivery_tag, multiple)
        _changed.set()


class Transport(memory.Transport):  # type: ignore[misc]
    """Kombu's queues in memory; theirs are looked at several times a second, these are waited at.

    One thread of a process waits: Celery's worker.
    """

    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Deliver the next message; raises TimeoutError when none comes for so many seconds."""
        assert self.cycle
        while True:
            _changed.clear()
            try:
                self.cycle.get(self._deliver, timeout=timeout)
                return
            except Empty:
                if not _changed.wait(timeout):
                    raise TimeoutError from None
