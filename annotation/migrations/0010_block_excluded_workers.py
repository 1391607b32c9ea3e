"""Gives whoever is excluded already no more work of that collection."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def block(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write a block for every exclusion that was not taken back."""
    blocks = apps.get_model("tasks", "WorkerBlock")
    for row in apps.get_model("annotation", "Exclusion").objects.filter(back_at__isnull=True):
        blocks.objects.get_or_create(collection_id=row.collection_id, worker_id=row.worker_id)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_verdict_excluded_label"),
        ("tasks", "0022_worker_blocks"),
    ]

    operations = [migrations.RunPython(block, migrations.RunPython.noop)]
