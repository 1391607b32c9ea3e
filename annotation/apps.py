"""Registers annotation as a Django app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Verdicts, the requester's pages, and releases."""

    name = "annotation"
