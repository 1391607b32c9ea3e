"""Runs Celery's worker and beat inside this process: one command, no services."""

import logging
import threading
from typing import Any

from collector.celery import app

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
            app, thread=True, max_interval=1, scheduler_cls="collector.serving.liveness:Clock"
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
