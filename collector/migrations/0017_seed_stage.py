"""Lets a seed name its stage by key in place of by name, and drop with it."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import OuterRef, Subquery


def find_stages(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Point every seed to the stage of its collection that it names."""
    named = apps.get_model("collector", "Stage").objects.filter(
        collection=OuterRef("collection"), name=OuterRef("stage_name")
    )
    seeds = apps.get_model("collector", "Seed").objects.order_by()
    seeds.update(stage=Subquery(named.values("pk")))


class Migration(migrations.Migration):
    dependencies = [("collector", "0016_books")]

    operations = [
        migrations.AddField(
            "seed",
            "stage",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="seeds",
                to="collector.stage",
            ),
        ),
        migrations.RunPython(find_stages, migrations.RunPython.noop),
    ]
