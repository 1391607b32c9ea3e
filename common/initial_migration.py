"""The first migration of an app: all its tables at once."""

from typing import Any

from django.db import migrations
from django.db.migrations.state import ProjectState


class InitialMigration(migrations.Migration):
    """A migration of CreateModel alone, each with all the fields, indexes and constraints.

    Django renders the models anew for each operation, which takes seconds where there are a hundred
    models; here they are rendered once, after the last operation.
    """

    def apply(
        self, project_state: ProjectState, schema_editor: Any, collect_sql: bool = False
    ) -> ProjectState:
        """Create the tables; return the state with their models."""
        assert all(isinstance(each, migrations.CreateModel) for each in self.operations)
        project_state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(self.app_label, project_state)
        for operation in self.operations:
            operation.database_forwards(self.app_label, schema_editor, project_state, project_state)
        return project_state
