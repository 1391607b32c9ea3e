"""Adds what releases told of each question."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0018_name_waiting_for_more_people"),
        ("tasks", "0031_given_names"),
    ]

    operations = [
        migrations.CreateModel(
            name="ToldQuestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("split", models.CharField(blank=True, max_length=40)),
                (
                    "question",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="told",
                        to="tasks.question",
                    ),
                ),
            ],
        ),
    ]
