"""Name the rows of answers that can no longer change by the field's word."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Renames the table and its constraint."""

    dependencies = [("tasks", "0020_posting_submitted_empty_label")]

    operations = [
        migrations.RenameModel("Given", "LockedAnswer"),
        migrations.AlterModelOptions(
            "lockedanswer", {"ordering": ["unit_id", "worker_id", "position"]}
        ),
        migrations.RemoveConstraint("lockedanswer", "given_once"),
        migrations.AlterField(
            "lockedanswer",
            "unit",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="locked_answers",
                to="tasks.unit",
            ),
        ),
        migrations.AlterField(
            "lockedanswer",
            "worker",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="locked_answers",
                to="tasks.worker",
            ),
        ),
        migrations.AddConstraint(
            "lockedanswer",
            models.UniqueConstraint(
                fields=["unit", "worker", "position"], name="locked_answer_once"
            ),
        ),
    ]
