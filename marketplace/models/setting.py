"""What the host has chosen at the desk."""

from django.db import models


class Setting(models.Model):
    """One choice by name; it outranks the same choice in Django's settings (configuration.py)."""

    name = models.CharField(max_length=60, unique=True)
    value = models.JSONField()
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
