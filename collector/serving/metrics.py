"""Collector's metrics for Prometheus, and the timing and tracing of its jobs."""

import time
from contextlib import ExitStack
from typing import Any

from celery import signals
from django.http import HttpRequest, HttpResponse

from common.metrics import metrics_of, metrics_page
from common.trace import new_request_id, request_id, steps, traced

SITE = metrics_of("collector")
relayed = SITE.timing(
    "dialog_relay_seconds", "From a message's arrival to when its partner is told; it is stored"
)
jobs_run = SITE.timing("job_seconds", "Jobs that were run", ("job", "outcome"))


def metrics(request: HttpRequest) -> HttpResponse:
    """Return Collector's metrics if the request has the token."""
    return metrics_page(request, SITE.name)


SENT_BY = "sent_by_request"


@signals.before_task_publish.connect
def _send(headers: dict[str, Any] | None = None, **_: object) -> None:
    if headers is not None and request_id():
        headers[SENT_BY] = request_id()


@signals.task_prerun.connect
def _begin(task: Any = None, **_: object) -> None:
    around = ExitStack()
    name = getattr(task.request, SENT_BY, None) or new_request_id()
    around.enter_context(traced(request=name, job=str(task.name).rpartition(".")[2]))
    task.request.around, task.request.began = around, time.perf_counter()


@signals.task_postrun.connect
def _end(task: Any = None, state: str | None = None, **_: object) -> None:
    around = getattr(task.request, "around", None)
    if around is None:
        return
    seconds = time.perf_counter() - task.request.began
    name, outcome = str(task.name).rpartition(".")[2], "done" if state == "SUCCESS" else "failed"
    jobs_run.observe(seconds, name, outcome)
    steps.info("job %s %s", name, outcome, extra={"step": {"ms": round(1000 * seconds, 1)}})
    around.close()
