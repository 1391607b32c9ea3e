"""Tells questions that wait for a HIT's further people from those that wait for their fold's."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

SENTENCE = "people have given their votes so far."


def name_apart(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Give the verdicts that the engine wrote, known by their sentence, a reason of their own."""
    waiting = apps.get_model("annotation", "Verdict").objects.filter(outcome="waiting")
    waiting.filter(reason="waiting_for_votes", sentence__endswith=SENTENCE).update(
        reason="waiting_for_more_people"
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0017_verdict_last_vote")]

    operations = [migrations.RunPython(name_apart, migrations.RunPython.noop)]
