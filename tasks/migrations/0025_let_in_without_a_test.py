"""Lets a qualification be granted to somebody who has handed in no test."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks", "0024_reader_hints")]

    operations = [
        migrations.AlterField("grant", "submitted_at", models.DateTimeField(blank=True, null=True))
    ]
