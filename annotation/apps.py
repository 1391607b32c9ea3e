"""Registers annotation as a Django app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """What we believe, and what we release."""

    name = "annotation"
