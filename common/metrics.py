"""Metrics of one site for Prometheus: what its processes count, and what its rows say when asked.

Nothing is counted, and nothing answered, before the site has a token (`COLLECTOR_METRICS_TOKEN`,
`MARKETPLACE_METRICS_TOKEN`): what is counted costs some microseconds, what rows know is asked when
somebody wants to read it.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from common.metric_files import counted_together

log = logging.getLogger(__name__)
# Rows are asked no more often than this, however many read the metrics.
KEPT_SECONDS = 10.0
# Upper bounds, in seconds, of what a page or a call takes.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
# Who made what is counted: simulated work is never counted as people's.
SYNTHETIC = "synthetic"

Row = tuple[tuple[str, ...], tuple[float, ...]]


@dataclass(frozen=True)
class RowMetrics:
    """Gauges that one query tells: `told` has each one's help by its name, without the site's.

    `ask` returns rows of labels and of one value for each gauge. `kept_seconds` is how long an
    answer is good for.
    """

    told: Mapping[str, str]
    labels: tuple[str, ...]
    ask: Callable[[], Iterable[Row]]
    kept_seconds: float = KEPT_SECONDS


class Timing:
    """How often something happened and how long it took, in seconds; a histogram by labels."""

    def __init__(self, site: "SiteMetrics", name: str, told: str, labels: tuple[str, ...]) -> None:
        self.site, self.name, self.told, self.labels = site, f"{site.name}_{name}", told, labels

    def observe(self, seconds: float, *labels: str) -> None:
        """Count one; costs nothing where nobody reads metrics."""
        if self.site.token():
            histogram = self._histogram
            (histogram.labels(*labels) if labels else histogram).observe(seconds)

    @cached_property
    def _histogram(self) -> Histogram:
        return Histogram(
            self.name, self.told, self.labels, registry=self.site.registry, buckets=BOUNDS
        )


class SiteMetrics:
    """The metrics of one site, `collector` or `marketplace`; all names begin with its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.registry = CollectorRegistry()
        self.timings: list[Timing] = []
        self._answers: dict[int, tuple[float, list[Row] | None]] = {}
        self._lock = threading.Lock()
        self.requests = self.timing(
            "http_request_seconds", "Pages and calls answered", ("view", "method", "status")
        )

    def token(self) -> str:
        """Return what a reader of the metrics has to know; "" where there are none."""
        return str(getattr(settings, f"{self.name.upper()}_METRICS_TOKEN", ""))

    def timing(self, name: str, told: str, labels: tuple[str, ...] = ()) -> Timing:
        """Return a new timing of this site."""
        self.timings.append(Timing(self, name, told, labels))
        return self.timings[-1]

    def rows(self) -> list[RowMetrics]:
        """Return what the site's rooms know of their rows, as its `…_ROW_METRICS` names it."""
        own = (f"{self.name}.metrics.METRICS",)
        named = getattr(settings, f"{self.name.upper()}_ROW_METRICS", own)
        return [each for name in named for each in import_string(name)]

    def names(self) -> set[str]:
        """Return every name under which Prometheus stores something of this site."""
        told = {f"{self.name}_{name}" for each in self.rows() for name in each.told}
        ends = ("count", "sum", "bucket")
        counted = {f"{each.name}_{end}" for each in self.timings for end in ends}
        return told | counted | {f"{self.name}_rows_unreadable"}

    def text(self) -> bytes:
        """Return everything in Prometheus' format."""
        registry = CollectorRegistry()
        registry.register(self)  # type: ignore[arg-type]
        return (counted_together() or generate_latest(self.registry)) + generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """Yield what rows say; what cannot be asked is left out and counted."""
        failed = 0
        for each in self.rows():
            rows = self._asked(each)
            failed += rows is None
            for number, (name, told) in enumerate(each.told.items()):
                family = GaugeMetricFamily(f"{self.name}_{name}", told, labels=each.labels)
                for labels, values in rows or ():
                    family.add_metric(labels, values[number])
                yield family
        told = "Queries behind these metrics that failed"
        yield GaugeMetricFamily(f"{self.name}_rows_unreadable", told, failed)

    def _asked(self, each: RowMetrics) -> list[Row] | None:
        """Return the rows, asked now or a moment ago; None where the database does not say."""
        with self._lock:
            until, rows = self._answers.get(id(each), (0.0, None))
            if time.monotonic() >= until:
                try:
                    rows = list(each.ask())
                except DatabaseError as error:
                    log.warning("Metrics cannot be read: %s", error)
                    rows = None
                self._answers[id(each)] = (time.monotonic() + each.kept_seconds, rows)
            return rows


@cache
def metrics_of(site: str) -> SiteMetrics:
    """Return the metrics of the site of this name."""
    return SiteMetrics(site)


def metrics_page(request: HttpRequest, site: str) -> HttpResponse:
    """Return a site's metrics to a request with its token as a bearer, and 404 to all others."""
    metrics = metrics_of(site)
    token, given = metrics.token(), request.headers.get("Authorization", "")
    if not token or not secrets.compare_digest(given.encode(), f"Bearer {token}".encode()):
        answer = HttpResponse("There is no such page.\n", "text/plain; charset=utf-8", 404)
        answer._has_been_logged = True  # type: ignore[attr-defined]
        return answer
    answer = HttpResponse(metrics.text(), CONTENT_TYPE_LATEST)
    answer.headers["Cache-Control"] = "no-store"
    return answer


class RequestTimes:
    """Counts each request by the page that answered it; a site without a token has none of it."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        sites = {name.partition(".")[0] for name in _urlconfs()}
        self.sites = {name: metrics_of(name) for name in sites}
        if not any(site.token() for site in self.sites.values()):
            raise MiddlewareNotUsed

    def __call__(self, request: HttpRequest) -> Any:
        """Answer, and count that."""
        began = time.perf_counter()
        response = self.get_response(request)
        urlconf = getattr(request, "urlconf", None) or settings.ROOT_URLCONF
        match = request.resolver_match
        self.sites[str(urlconf).partition(".")[0]].requests.observe(
            time.perf_counter() - began,
            (match.view_name or "unnamed") if match else "none",
            request.method if request.method in ("GET", "POST") else "other",
            str(response.status_code),
        )
        return response


def _urlconfs() -> Iterable[str]:
    hosts: Mapping[str, str] = getattr(settings, "HOST_URLCONFS", {})
    return {settings.ROOT_URLCONF, *hosts.values()}


def seconds_since(moment: Any, now: Any) -> float:
    """Return how long ago something was, 0 where it never was or is still to come."""
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0
