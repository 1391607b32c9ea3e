import re
from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Rows of before hold the English sentence alone.
FIXED = {
    "test_time_was_up": "The time of the test was up.",
    "test_withdrawn": "The requester withdrew it. What you wrote is kept among your data.",
    "taken_out_of_group": "Taken out of the group by the host.",
}
NAMED = {
    "qualification_given": ("You now have the qualification “", "”"),
    "members_of_group": ("Members of ", "."),
}
COLUMNS = (
    ("message", "subject", ["qualification_given"]),
    ("message", "text", ["members_of_group"]),
    ("qualificationtype", "description", ["members_of_group"]),
    ("qualificationgrant", "reason", ["taken_out_of_group"]),
    ("qualificationrequest", "reason", ["test_time_was_up", "test_withdrawn"]),
)


def give_keys(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for model, column, keys in COLUMNS:
        rows: Any = apps.get_model("marketplace", model)._default_manager.using(
            schema_editor.connection.alias
        )
        for key in keys:
            if key in FIXED:
                rows.filter(**{column: FIXED[key]}).update(**{f"{column}_message": {"key": key}})
            else:
                name_rows(rows, column, key)


def name_rows(rows: Any, column: str, key: str) -> None:
    before, after = NAMED[key]
    shape = re.compile(re.escape(before) + "(.*)" + re.escape(after), re.DOTALL)
    given = rows.filter(
        **{f"{column}__startswith": before, f"{column}__endswith": after}
    )
    for pk, text in given.values_list("pk", column).iterator(chunk_size=1000):
        if found := shape.fullmatch(text):
            message = {"key": key, "name": found[1]}
            rows.filter(pk=pk).update(**{f"{column}_message": message})


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0010_faults_of_a_requester")]

    operations = [
        *(
            migrations.AddField(model, f"{column}_message", models.JSONField(null=True))
            for model, column, _ in COLUMNS
        ),
        migrations.RunPython(give_keys, migrations.RunPython.noop),
    ]
