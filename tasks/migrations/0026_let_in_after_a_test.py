"""Tells who was let in from who passed, also of those who have handed in the test."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def mark_let_in(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Mark whoever has handed in no test: whether others were let in was not kept."""
    apps.get_model("tasks", "Grant").objects.filter(submitted_at=None).update(is_let_in=True)


class Migration(migrations.Migration):
    dependencies = [("tasks", "0025_let_in_without_a_test")]

    operations = [
        migrations.AddField("grant", "is_let_in", models.BooleanField(default=False)),
        migrations.RunPython(mark_let_in, migrations.RunPython.noop),
        migrations.AddConstraint(
            "grant",
            models.CheckConstraint(
                condition=models.Q(is_let_in=True) | models.Q(submitted_at__isnull=False),
                name="grant_by_test_or_trust",
            ),
        ),
    ]
