"""Keeps every marketplace row in the marketplace's own database, and every other row out of it."""

from typing import Any

from django.db import transaction

DATABASE = "marketplace"
APP_LABEL = "marketplace"


def atomic() -> transaction.Atomic:
    """Return a transaction of the marketplace's own database."""
    return transaction.atomic(using=DATABASE)


class MarketplaceRouter:
    """Sends the app `marketplace` to the alias `marketplace`, and has no opinion on other apps."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        """Return the alias for the island's models, None for anybody else's."""
        return DATABASE if model._meta.app_label == APP_LABEL else None

    def db_for_write(self, model: Any, **hints: Any) -> str | None:
        """Return the alias for the island's models, None for anybody else's."""
        return self.db_for_read(model, **hints)

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool | None:
        """Allow relations inside the island and refuse any that would cross its shore."""
        inside = [thing._meta.app_label == APP_LABEL for thing in (one, other)]
        if all(inside):
            return True
        return False if any(inside) else None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """Create the island's tables on its own alias only, and nobody else's tables there."""
        if app_label == APP_LABEL:
            return db == DATABASE
        return False if db == DATABASE else None
