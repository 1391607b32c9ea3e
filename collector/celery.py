"""The Celery app: finds every room's `jobs.py`."""

import os
import warnings

from celery import Celery, signals
from celery.exceptions import CPendingDeprecationWarning

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
app = Celery("collector")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")


@signals.celeryd_after_setup.connect
def _accept_jobs_that_run_twice(**_: object) -> None:
    """Say nothing of jobs that an outage of the broker cuts off: each of ours may run twice.

    Until here a worker shows these warnings whatever was asked for before.
    """
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
