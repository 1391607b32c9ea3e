"""What Collector's processes count for Prometheus: pages, jobs, messages of dialogs."""

from django.http import HttpRequest, HttpResponse

from common.metrics import metrics_of, metrics_page

SITE = metrics_of("collector")
relayed = SITE.timing(
    "dialog_relay_seconds", "From a message's arrival to when its partner is told; it is stored"
)
jobs_run = SITE.timing("job_seconds", "Jobs that were run", ("job", "outcome"))


def metrics(request: HttpRequest) -> HttpResponse:
    """Return Collector's metrics to whoever knows the token."""
    return metrics_page(request, SITE.name)
