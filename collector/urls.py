"""Collector's addresses; each room lists its own."""

from django.urls import URLPattern, URLResolver, include, path

from collector.serving.health import health
from collector.serving.metrics import metrics

handler400 = "tasks.pages.notice_pages.unreadable"
handler500 = "tasks.pages.entry_views.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("health", health, name="health"),
    path("metrics", metrics, name="metrics"),
    path("hit/", include("tasks.pages.urls")),
    path("", include("annotation.dashboard.urls")),
]
