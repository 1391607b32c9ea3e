"""Collector's addresses; each room lists its own."""

from django.urls import URLPattern, URLResolver, include, path

from collector.health import health

handler400 = "tasks.pages.notices.unread"

urlpatterns: list[URLPattern | URLResolver] = [
    path("health", health, name="health"),
    path("hit/", include("tasks.pages.urls")),
    path("", include("annotation.dashboard.urls")),
]
