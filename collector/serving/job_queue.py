"""Celery in one process: a queue in memory, and its worker and clock in threads."""

import logging
import threading
from contextlib import suppress
from queue import Empty
from threading import Event
from typing import Any

from celery.worker.consumer import Consumer
from django.conf import settings
from kombu.exceptions import OperationalError
from kombu.transport import memory

from collector.celery import app

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
        """Deliver the next message; raises TimeoutError when none comes within `timeout`."""
        assert self.cycle
        while True:
            _changed.clear()
            try:
                self.cycle.get(self._deliver, timeout=timeout)
                return
            except Empty:
                if not _changed.wait(timeout):
                    raise TimeoutError from None


AT_ONCE = ("annotation.jobs.look_after_what_is_due", "annotation.jobs.remove_left_files")


class LoneConsumer(Consumer):  # type: ignore[misc]
    """Celery's own, without what keeps workers in touch.

    At its start, and after each outage of the queue, it would wait a second for others to answer;
    and nobody reads the signs of life that they would send each other every other second.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        alone = {"without_mingle": True, "without_gossip": True, "without_heartbeat": True}
        chosen = {**(options.pop("worker_options", None) or {}), **alone}
        super().__init__(*arguments, worker_options=chosen, **options)

    def on_ready(self) -> None:
        """Have what is due looked at as soon as the queue is there; the clock comes later.

        And leftovers of killed processes.
        """
        super().on_ready()
        if self.app.conf.task_default_queue in self.app.amqp.queues.consume_from:
            # Where that fails the clock goes on asking.
            with suppress(OperationalError):
                for job in AT_ONCE:
                    self.app.send_task(job, expires=settings.MESSAGE_SECONDS)


log = logging.getLogger(__name__)
THREADS = 4


class EmbeddedJobs:
    """A Celery worker and its clock in threads; `stop` waits for the job at hand."""

    def __init__(self) -> None:
        self.worker: Any = None
        self.beat: Any = None
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Start both; returns at once."""
        from celery.beat import EmbeddedService

        app.loader.import_default_modules()
        self.worker = app.WorkController(
            pool="threads",
            concurrency=THREADS,
            hostname="embedded@localhost",
            queues=["celery", "dialogs", "readers"],
        )
        self.thread = threading.Thread(target=self.worker.start, name="jobs", daemon=True)
        self.thread.start()
        self.beat = EmbeddedService(
            app, thread=True, max_interval=1, scheduler_cls="collector.serving.health:Clock"
        )
        self.beat.daemon = True
        self.beat.start()

    def is_alive(self) -> bool:
        """Return whether jobs are still being run; the health page reports it."""
        return self.thread is not None and self.thread.is_alive()

    def stop(self) -> None:
        """End both."""
        if self.beat is not None:
            self.beat.stop()
        if self.worker is not None:
            self.worker.stop()


jobs = EmbeddedJobs()
