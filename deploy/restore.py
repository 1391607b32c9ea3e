"""Puts a copy back: .venv/bin/python -m deploy.restore FOLDER [TIME].

The site must be stopped. Without a time it is the newest copy, else the newest of that time or
before: 2026-11-29T10:30:00+00:00, or a name in FOLDER/copies. What is in COLLECTOR_HOME and
RELEASES is replaced file by file; nothing is put over databases, or back from a damaged copy.
"""

import os
import sys
from pathlib import Path

from deploy.copies import BESIDE, BackupError, check, chosen, put_back, site_of


def restore(folder: Path, when: str = "") -> str:
    """Return the moment of the copy that was put back. Raises BackupError."""
    site, copy = site_of(os.environ), chosen(folder, when)
    for path in site.files.values():
        for file in (path, *(Path(f"{path}{end}") for end in BESIDE)):
            if file.exists():
                raise BackupError(f"{file} is there: move it away first.")
    check(copy)
    put_back(copy, site)
    return copy.name


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("Name the folder of the backups, and a time where it is not the newest copy.")
    os.umask(0o077)
    try:
        print(f"Restored as of {restore(Path(sys.argv[1]), *sys.argv[2:])}.")
    except (BackupError, OSError) as error:
        sys.exit(str(error))
