"""A backup of a running PostgreSQL outlives the server's restarts and its end."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import psycopg2
import pytest

from tests import process_groups, services
from tests.rehearsals import restartable_services
from tests.serving import ROOT

BACKUP, RESTORE = (str(ROOT / "deploy" / f"{verb}.sh") for verb in ("backup", "restore"))


def write(address: str) -> None:
    """Write a row."""
    with psycopg2.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS written (at timestamptz)")
        cursor.execute("INSERT INTO written VALUES (clock_timestamp())")
    connection.close()


def written(address: str) -> int:
    """Return how many rows there are."""
    with psycopg2.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM written")
        row = cursor.fetchone()
    connection.close()
    assert row
    return int(row[0])


def wait_for(folder: Path, file: str) -> None:
    """Wait until there is a file of this name in a copy."""
    until = time.monotonic() + 60
    while not list(folder.glob(file)):
        assert time.monotonic() < until, (folder.parent / "backup.log").read_text()
        time.sleep(0.2)


def test_what_is_written_before_and_after_a_restart_of_the_server_comes_back(
    tmp_path: Path,
) -> None:
    server = services.binary("postgres")
    if not shutil.which("pg_receivewal") or not server:
        pytest.skip("A backup needs PostgreSQL's own programs")
    home, backups, log = tmp_path / "home", tmp_path / "backups", tmp_path / "backup.log"
    home.mkdir()
    (home / "secret_key").write_text("hush")
    with restartable_services.postgresql() as service:
        address = f"postgres://collector@127.0.0.1:{service.port}/postgres"
        given = {"DATABASE_URL": address, "COLLECTOR_HOME": str(home), "RELEASES": "none"}
        environment = {**os.environ, **given}
        with log.open("w") as said:
            process = process_groups.begin(
                ["sh", BACKUP, str(backups)], env=environment, stderr=said
            )
        try:
            wait_for(backups, "*/as-of")
            write(address)
            time.sleep(6)
            service.kill()
            service.start()
            wait_for(backups, "*/as-of")
            time.sleep(3)
            write(address)
            time.sleep(1)
            service.kill()
        finally:
            process_groups.end(process)
        assert "goes on with" in log.read_text()
        data = Path(service.command[service.command.index("-D") + 1])
        shutil.rmtree(data)
        shutil.rmtree(home)
        restore = {**environment, "PGDATA": str(data), "PGUSER_OF_SYSTEM": service.user or ""}
        subprocess.run(["sh", RESTORE, str(backups)], env=restore, check=True)
        service.start()
        assert written(address) == 2
    assert (home / "secret_key").read_text() == "hush"
