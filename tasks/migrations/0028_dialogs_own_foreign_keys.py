"""Lets a dialog's topic and tickets answer for its stage and people: each pair was asked for all."""

import django.db.models.deletion
from django.db import migrations, models

PROTECT = django.db.models.deletion.PROTECT
CASCADE = django.db.models.deletion.CASCADE


def of_a_person() -> models.ForeignKey:
    """Return a foreign key to a worker whom one of the dialog's tickets belongs to."""
    return models.ForeignKey(
        on_delete=PROTECT,
        related_name="+",
        to="tasks.worker",
        db_index=False,
        db_constraint=False,
    )


class Migration(migrations.Migration):
    dependencies = [("tasks", "0027_fewer_indexes_of_pairs")]

    operations = [
        migrations.AlterField(
            "dialog",
            "stage",
            models.ForeignKey(
                on_delete=CASCADE,
                related_name="dialogs",
                to="collector.stage",
                db_constraint=False,
            ),
        ),
        migrations.AlterField("dialog", "student", of_a_person()),
        migrations.AlterField("dialog", "teacher", of_a_person()),
    ]
