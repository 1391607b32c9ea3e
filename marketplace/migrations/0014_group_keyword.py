"""Gives the groups of before the keyword by which programs know a group."""

from typing import Any

from django.db import migrations


def name_groups(apps: Any, schema_editor: Any) -> None:
    """Write the keyword where none is."""
    types = apps.get_model("marketplace", "QualificationType").objects
    rows = types.using(schema_editor.connection.alias).filter(group__isnull=False, keywords="")
    rows.update(keywords="group")


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0013_worker_sessions")]

    operations = [migrations.RunPython(name_groups, migrations.RunPython.noop, elidable=True)]
