"""The Celery app's own choices."""

import warnings

from celery import signals
from celery.apps.worker import Worker
from celery.exceptions import CPendingDeprecationWarning

from collector.celery import app


def test_a_worker_says_nothing_of_jobs_that_an_outage_makes_run_twice() -> None:
    with warnings.catch_warnings(record=True) as said:
        # A worker shows these once its log is set up, and is then asked what it wants.
        warnings.filterwarnings("always", category=CPendingDeprecationWarning)
        signals.celeryd_after_setup.send(sender="worker", instance=Worker, conf=app.conf)
        warnings.warn("Cancel what runs?", CPendingDeprecationWarning, stacklevel=1)
    assert said == []
