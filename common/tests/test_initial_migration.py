"""An app's first migration makes the tables that Django's own way makes."""

from importlib import import_module

import pytest
from django.db import connection, migrations, models
from django.db.migrations.state import ProjectState

from common.initial_migration import InitialMigration

KEY = ("id", models.BigAutoField(primary_key=True))
OPERATIONS = [
    migrations.CreateModel("Shelf", fields=[KEY, ("name", models.CharField(max_length=9))]),
    migrations.CreateModel(
        "Volume",
        fields=[
            KEY,
            ("n_pages", models.IntegerField(db_index=True)),
            ("shelf", models.ForeignKey("shelves.Shelf", models.CASCADE)),
            ("seen_with", models.ManyToManyField("shelves.Volume")),
        ],
        options={
            "constraints": [
                models.CheckConstraint(condition=models.Q(n_pages__gt=0), name="has_pages")
            ],
            "indexes": [models.Index(fields=["shelf", "n_pages"], name="by_pages")],
        },
    ),
]


def _made(kind: type[migrations.Migration]) -> tuple[list[str], ProjectState]:
    migration = kind("0001_initial", "shelves")
    migration.operations = OPERATIONS
    with connection.schema_editor(collect_sql=True) as editor:
        state = migration.apply(ProjectState(), editor, collect_sql=True)
    return [each for each in editor.collected_sql if not each.startswith("--")], state


@pytest.mark.django_db(transaction=True)
def test_tables_and_state_are_those_of_djangos_own_way() -> None:
    ours, theirs = _made(InitialMigration), _made(migrations.Migration)
    assert sorted(ours[0]) == sorted(theirs[0])
    assert len(ours[0]) > 5
    assert ours[1] == theirs[1]
    assert ours[1].apps.get_model("shelves", "volume")._meta.get_field("shelf").related_model


@pytest.mark.parametrize("app", ["collector", "tasks", "annotation", "marketplace"])
def test_every_app_of_ours_begins_so(app: str) -> None:
    first = import_module(f"{app}.migrations.0001_initial").Migration
    assert issubclass(first, InitialMigration)
    assert all(isinstance(each, migrations.CreateModel) for each in first.operations)
