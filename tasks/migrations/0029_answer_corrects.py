"""Lets what a hand decided point to the vote that it rests on."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("tasks", "0028_submission_replaced")]

    operations = [
        migrations.AddField(
            "answer",
            "corrects",
            models.ForeignKey(
                "tasks.answer",
                django.db.models.deletion.PROTECT,
                null=True,
                blank=True,
                related_name="+",
                db_index=False,
            ),
        ),
        migrations.AddConstraint(
            "answer",
            models.CheckConstraint(
                condition=Q(corrects__isnull=True) | ~Q(corrected_by=""),
                name="answer_corrects_by_hand",
            ),
        ),
    ]
