"""Registers what is read as a Django app."""

from django.apps import AppConfig


class CollectorConfig(AppConfig):
    """Corpora, seeds and collections."""

    name = "collector"
