"""Names the votes on which rests what a hand has decided before."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def find_votes(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Name the vote of every decision on labels, and of a correction as far as it is known.

    A correction kept the evidence of its vote; else it is the only vote there was.
    """
    answers = apps.get_model("tasks", "Answer").objects
    for row in answers.exclude(corrected_by="").order_by("pk"):
        votes = answers.filter(question=row.question_id, stage=row.stage_id, corrected_by="")
        if "vote" in row.payload:
            row.corrects = votes.filter(pk=row.payload.pop("vote")).first()
        else:
            given, kept = list(votes.order_by("pk")), _evidence(row)
            alike = [vote for vote in given if any(kept) and _evidence(vote) == kept]
            row.corrects = alike[0] if alike else given[0] if len(given) == 1 else None
        row.save(update_fields=["corrects", "payload"])


def _evidence(answer: models.Model) -> tuple[object, object]:
    payload = answer.payload  # type: ignore[attr-defined]
    return payload.get("context"), payload.get("evidence")


class Migration(migrations.Migration):
    dependencies = [("tasks", "0029_answer_corrects")]

    operations = [migrations.RunPython(find_votes, migrations.RunPython.noop)]
