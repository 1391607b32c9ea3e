"""The Celery app's own choices."""

import os
import subprocess
import sys
import warnings

from celery import signals
from celery.apps.worker import Worker
from celery.exceptions import CPendingDeprecationWarning

from collector.celery import app
from collector.serving.job_queue import AT_ONCE

QUEUE = "redis://127.0.0.1:6399/7"


def test_a_worker_says_nothing_of_jobs_that_an_outage_makes_run_twice() -> None:
    with warnings.catch_warnings(record=True) as said:
        # A worker shows these once its log is set up, and is then asked what it wants.
        warnings.filterwarnings("always", category=CPendingDeprecationWarning)
        signals.celeryd_after_setup.send(sender="worker", instance=Worker, conf=app.conf)
        warnings.warn("Cancel what runs?", CPendingDeprecationWarning, stacklevel=1)
    assert said == []


def test_whoever_sends_a_job_sends_it_by_the_broker_of_the_settings() -> None:
    told = _told_alone(
        "import django; django.setup(); from tasks.jobs import look_after_dialogs as job; "
        "import annotation.jobs; print(job.app.main, job.app.conf.broker_url)"
    )
    assert told == ["collector", QUEUE]


def test_a_worker_waits_for_no_other_worker() -> None:
    told = _told_alone(
        "from collector.celery import app; worker = app.WorkController(pool='solo'); "
        "print(*(type(step).__name__ for step in worker.consumer.steps))"
    )
    assert "Tasks" in told
    assert not {"Mingle", "Gossip", "Heart"} & set(told)


def test_a_worker_looks_for_what_is_due_as_soon_as_it_is_ready() -> None:
    ready = "app.WorkController(pool='solo', queues=['{}']).consumer.on_ready(); print('|'); "
    told = _told_alone(
        "from collector.celery import app; app.send_task = lambda name, **_: print(name); "
        + "".join(ready.format(queue) for queue in ("celery", "readers"))
    )
    assert told == [*AT_ONCE, "|", "|"]


def test_a_worker_starts_without_pages_and_what_few_jobs_need() -> None:
    told = _told_alone(
        "import sys; from collector.celery import app; app.loader.import_default_modules(); "
        "print(*sys.modules)"
    )
    assert "annotation.jobs" in told
    assert [name for name in told if name.startswith("annotation.dashboard")] == []
    assert not {"annotation.release.publish_release", "annotation.baselines.training"} & set(told)
    assert "tasks.simulation.simulated_contract" not in told


def _told_alone(script: str) -> list[str]:
    """Return the words that a process of its own prints: in this one the app is there already."""
    environment = {**os.environ, "CELERY_BROKER_URL": QUEUE}
    environment["DJANGO_SETTINGS_MODULE"] = "collector.settings"
    run = [sys.executable, "-c", script]
    told = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    return told.stdout.split()
