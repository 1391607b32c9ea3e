"""Registers tasks as a Django app."""

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """What workers do, and what they are paid."""

    name = "tasks"

    def ready(self) -> None:
        """Make the kind of stage known that needs all of a dialog's room."""
        from tasks.dialog.kind import DialogKind
        from tasks.work.kinds.registry import register

        register(DialogKind())
