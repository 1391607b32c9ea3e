"""Tightens what the migration before has filled."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("collector", "0017_seed_stage")]

    operations = [
        migrations.RemoveField("seed", "stage_name"),
        migrations.AlterField(
            "seed",
            "stage",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="seeds",
                to="collector.stage",
            ),
        ),
    ]
