"""Drops indexes that nobody asks, or that begin another one: each pair had to write in all."""

import django.db.models.deletion
from django.db import migrations, models


def unindexed(model: str, **options: object) -> models.ForeignKey:
    """Return a foreign key to a model of this app that has no index of its own."""
    return models.ForeignKey(db_index=False, to=f"tasks.{model}", **options)


PROTECT = django.db.models.deletion.PROTECT
CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("tasks", "0026_let_in_after_a_test")]

    operations = [
        migrations.AlterField(
            "dialog", "student", unindexed("worker", on_delete=PROTECT, related_name="+")
        ),
        migrations.AlterField(
            "dialog", "teacher", unindexed("worker", on_delete=PROTECT, related_name="+")
        ),
        migrations.AlterField(
            "dialog", "topic", unindexed("topic", on_delete=PROTECT, related_name="dialogs")
        ),
        migrations.AlterField(
            "exposure", "worker", unindexed("worker", on_delete=CASCADE, related_name="exposures")
        ),
        migrations.AlterField(
            "ticket", "worker", unindexed("worker", on_delete=PROTECT, related_name="tickets")
        ),
        migrations.AddIndex(
            "ticket", models.Index(fields=["worker"], name="ticket_of_worker")
        ),
    ]
