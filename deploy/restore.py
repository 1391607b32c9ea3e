"""Puts a copy back: .venv/bin/python -m deploy.restore FOLDER [TIME].

The site must be stopped. Without a time it is the newest, else 2026-11-29T10:30:00+00:00 or a name
in FOLDER/copies. On PostgreSQL, PGDATA names the empty folder for the server's files; the databases
come back as of that very moment, without a time as of the last that was written. What is in
COLLECTOR_HOME and RELEASES is replaced file by file. Nothing is put over databases, or back from a
damaged copy.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.backup import databases_of
from deploy.copies import BackupError, check, chosen, put_back, site_of
from deploy.server_log import RESTORED


def restore(folder: Path, when: str, environ: Mapping[str, str]) -> str:
    """Return the name of the copy that was put back where these variables say.

    Raises BackupError and OSError.
    """
    site, copy = site_of(environ), chosen(folder, when)
    check(copy)
    to = environ.get("PGDATA")
    databases_of(site, folder).restore(copy, when, Path(to) if to else None)
    put_back(copy, site, when if site.is_on_postgresql else "")
    return copy.name


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("Name the folder of the backups, and a time where it is not the newest copy.")
    os.umask(0o077)
    whole = Path(sys.argv[1])
    try:
        print(f"Restored: files as of {restore(whole, ''.join(sys.argv[2:]), os.environ)}.")
        (whole / RESTORED).touch()
    except (BackupError, OSError) as error:
        sys.exit(str(error))
