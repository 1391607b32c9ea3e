"""Collector's addresses; each room lists its own."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("hit/", include("tasks.pages.urls")),
    path("", include("annotation.dashboard.urls")),
]
