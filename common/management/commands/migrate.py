"""Django's `migrate`, which refuses tables that are too old for the migrations that are left."""

from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from common.command_line import MANAGE

OLD = """These tables were made by an earlier version, and this one cannot change them all.
Check out 5986b963, start it once on this home, then start this version."""


class Command(migrate.Command):
    """Brings the tables of a database up to date.

    Django passes silently over tables that have had some of the migrations of which one was made.
    """

    help = f"Bring the tables of a database up to date. Example: {MANAGE} migrate"

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, or raise CommandError for tables of an earlier version."""
        loader = MigrationLoader(connections[options["database"]])
        for migration in loader.replacements.values():
            if (
                0
                < len(loader.applied_migrations.keys() & {*migration.replaces})
                < len(migration.replaces)
            ):
                raise CommandError(OLD)
        super().handle(*args, **options)
