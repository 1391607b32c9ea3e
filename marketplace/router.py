"""Keeps every marketplace row in the marketplace's own database, and every other row out of it."""

from typing import Any

from django.db import transaction

DATABASE = "marketplace"
APP_LABEL = "marketplace"


def atomic() -> transaction.Atomic:
    """Return a transaction of the marketplace's own database."""
    return transaction.atomic(using=DATABASE)


class MarketplaceRouter:
    """Sends the app `marketplace` to the alias `marketplace`; decides nothing for other apps."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        """Return the alias for the marketplace's models, None for other models."""
        return DATABASE if model._meta.app_label == APP_LABEL else None

    def db_for_write(self, model: Any, **hints: Any) -> str | None:
        """Return the alias for the marketplace's models, None for other models."""
        return self.db_for_read(model, **hints)

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool | None:
        """Allow relations inside the marketplace, and refuse those between it and other apps."""
        inside = [thing._meta.app_label == APP_LABEL for thing in (one, other)]
        if all(inside):
            return True
        return False if any(inside) else None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """Create the marketplace's tables in its own database only, and no other tables there."""
        if app_label == APP_LABEL:
            return db == DATABASE
        return False if db == DATABASE else None
