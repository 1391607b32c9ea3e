"""Fills what releases of before told of each question."""

from datetime import timedelta

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Max

# A release was stamped when its making began, and what was handed in since stands in it too.
MAKING = timedelta(days=1)
AT_ONCE = 1000


def fill(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Take what was asked and placed by the last release, or while it was made, for told."""
    questions = apps.get_model("tasks", "Question").objects
    told = apps.get_model("annotation", "ToldQuestion")
    releases = apps.get_model("annotation", "Release").objects.order_by()
    for collection, last in releases.values_list("collection_id").annotate(Max("created_at")):
        rows = questions.filter(stage__collection=collection, created_at__lte=last + MAKING)
        columns = ("pk", "split_assignment__split", "split_assignment__placed_at")
        some = []
        for pk, split, placed_at in rows.values_list(*columns).iterator():
            is_settled = placed_at is not None and placed_at <= last
            some.append(told(question_id=pk, split=split if is_settled else ""))
            if len(some) == AT_ONCE:
                told.objects.bulk_create(some)
                some = []
        told.objects.bulk_create(some)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0019_told_question")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
