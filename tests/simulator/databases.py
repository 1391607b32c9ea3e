"""The two databases of a run, copied from templates: SQLite files in memory, or PostgreSQL."""

import shutil
from pathlib import Path

from django.db import connections

NAMES = ("default", "marketplace")


class Databases:
    """Where the databases of runs are; `template` is filled once and copied for each run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_sqlite = connections["default"].vendor == "sqlite"
        self.server = {name: connections[name].settings_dict["NAME"] for name in NAMES}

    def use(self, run: str) -> None:
        """Let this process and those that it forks connect to the databases of a run."""
        for name in NAMES:
            connections[name].close()
            connections[name].settings_dict["NAME"] = self._named(run, name)

    def _named(self, run: str, name: str) -> str:
        if self.is_sqlite:
            return str(self.folder / run / f"{name}.sqlite3")
        return f"simulated_{run}_{name}"

    def make(self, run: str, template: str = "") -> None:
        """Make the databases of a run, as a template's or empty."""
        if self.is_sqlite:
            (self.folder / run).mkdir(parents=True, exist_ok=True)
            for name in NAMES if template else ():
                shutil.copy(self._named(template, name), self._named(run, name))
            return
        for name in NAMES:
            self._on_server(f"DROP DATABASE IF EXISTS {self._named(run, name)} WITH (FORCE)")
            source = self._named(template, name) if template else "template1"
            self._on_server(f"CREATE DATABASE {self._named(run, name)} TEMPLATE {source}")

    def drop(self, run: str) -> None:
        """Remove the databases of a run."""
        if self.is_sqlite:
            shutil.rmtree(self.folder / run, ignore_errors=True)
            return
        for name in NAMES:
            self._on_server(f"DROP DATABASE IF EXISTS {self._named(run, name)} WITH (FORCE)")

    def _on_server(self, statement: str) -> None:
        from django.db.utils import ConnectionHandler

        own = dict(connections["default"].settings_dict, NAME="postgres")
        server = ConnectionHandler({"default": own})["default"]
        with server.cursor() as cursor:
            cursor.execute(statement)
        server.close()
