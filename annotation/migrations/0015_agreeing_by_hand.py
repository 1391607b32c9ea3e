"""Lets nobody agree with an answer chosen by hand who gave another, decided before it was so."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def forget_overruled(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Leave who agreed with the votes out where another answer, or a correction, holds."""
    verdicts = apps.get_model("annotation", "Verdict").objects.filter(overridden=True)
    chosen = verdicts.exclude(chosen=None).select_related("chosen")
    for verdict in chosen.iterator():
        if verdict.chosen_id not in verdict.agreeing:
            verdict.agreeing = [] if verdict.chosen.corrected_by else [verdict.chosen_id]
            verdict.save(update_fields=["agreeing"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0014_statement"),
        ("tasks", "0026_let_in_after_a_test"),
    ]

    operations = [migrations.RunPython(forget_overruled, migrations.RunPython.noop)]
