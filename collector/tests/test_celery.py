"""The Celery app's own choices."""

import os
import subprocess
import sys
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


def test_whoever_sends_a_job_sends_it_by_the_broker_of_the_settings() -> None:
    # A process of its own: in this one the app may be there for another reason.
    script = (
        "import django; django.setup(); from tasks.jobs import look_after_dialogs as job; "
        "import annotation.jobs; print(job.app.main, job.app.conf.broker_url)"
    )
    environment = {**os.environ, "CELERY_BROKER_URL": "redis://127.0.0.1:6399/7"}
    environment["DJANGO_SETTINGS_MODULE"] = "collector.settings"
    run = [sys.executable, "-c", script]
    told = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["collector", "redis://127.0.0.1:6399/7"]
