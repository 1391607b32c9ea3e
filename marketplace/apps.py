"""Registers the marketplace with Django, alone or inside another project."""

from django.apps import AppConfig


class MarketplaceConfig(AppConfig):
    """The island's app label and key type."""

    name = "marketplace"
    label = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"
