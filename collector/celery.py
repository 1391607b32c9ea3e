"""The Celery app: finds every app's `jobs.py`."""

import importlib
import os
import random
import warnings
from typing import Any

from celery import Celery, signals
from celery.app.amqp import AMQP
from celery.exceptions import CPendingDeprecationWarning
from kombu import Connection
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
# Each worker would read every page of the site for them; what prepares the databases has run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")
# A queue that was away is asked for so often, however long it was; Celery's own pauses grow to 30.
LONGEST_RETRY_SECONDS = 1.0


class QueueConnection(Connection):  # type: ignore[misc]
    """A connection that is made again soon after an outage, by each process in its own time."""

    def ensure_connection(self, *arguments: Any, **options: Any) -> Connection:
        """Return the connection once it is made."""
        pause = random.uniform(0.5, 1.0) * LONGEST_RETRY_SECONDS
        pauses = {"interval_start": pause / 4, "interval_step": pause / 4, "interval_max": pause}
        return super().ensure_connection(*arguments, **{**pauses, **options})


class Messages(AMQP):  # type: ignore[misc]
    """What Celery says to the queue."""

    Connection = QueueConnection


# What an address that begins with memory:// leads to.
TRANSPORT_ALIASES["memory"] = "collector.serving.job_queue:Transport"
app = Celery("collector", amqp=Messages)
# Once: what it connects goes for each job.
importlib.import_module("collector.serving.metrics")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")


@signals.celeryd_after_setup.connect
def _accept_jobs_that_run_twice(**_: object) -> None:
    """Say nothing of jobs that an outage of the broker cuts off: each of ours may run twice.

    Until here a worker shows these warnings whatever was asked for before.
    """
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
