"""Says of each collection when the jobs look at it next; all of them once, after this."""

from django.db import migrations, models
from django.utils import timezone


def look_at_all(apps, schema_editor):
    rows = apps.get_model("collector", "Collection").objects.using(schema_editor.connection.alias)
    rows.exclude(state="draft").update(look_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("collector", "0019_rename_maintained_until")]

    operations = [
        migrations.AddField(
            "collection",
            "look_at",
            models.DateTimeField(null=True, blank=True, db_index=True),
        ),
        migrations.RunPython(look_at_all, migrations.RunPython.noop),
    ]
