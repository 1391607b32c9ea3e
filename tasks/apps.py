"""Registers tasks as a Django app."""

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """What workers do, and what they are paid."""

    name = "tasks"
