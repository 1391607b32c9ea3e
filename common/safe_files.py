"""Files of ours: for their owner alone (folders 0700, files 0600), and nowhere but in place."""

import os
import stat
from pathlib import Path
from typing import Any

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def private_folder(path: Path, mark: str) -> None:
    """Make a folder for its owner alone; one that is there is closed if it holds our file `mark`.

    Any other belongs to somebody else's things too, such as /tmp, and stays as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=FOLDER_MODE)
    except FileExistsError:
        if (path / mark).exists() and not path.stat().st_mode & stat.S_ISVTX:
            _close(path, FOLDER_MODE)


def private_path(path: Path) -> Path:
    """Make a folder, and what is missing on the way to it, for their owner alone; return it.

    One that is there is closed to others where it is ours.
    """
    for each in (*reversed(path.parents), path):
        each.mkdir(mode=FOLDER_MODE, exist_ok=True)
    _close(path, FOLDER_MODE)
    return path


def private_text(path: Path, text: str) -> None:
    """Write a file that its owner alone may read, also where it was there and open to others."""
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, FILE_MODE), "w", encoding="utf-8") as file:
        _close(path, FILE_MODE)
        file.truncate()
        file.write(text)


def private_databases(databases: dict[str, Any]) -> None:
    """Make the files of SQLite's databases for their owner alone, what is beside them likewise.

    SQLite gives its journals the mode of the database.
    """
    for row in databases.values():
        if "sqlite3" not in row.get("ENGINE", "") or ":memory:" in row["NAME"]:
            continue
        path = Path(row["NAME"])
        # Where it cannot be made, opening it says so.
        if path.parent.is_dir() and os.access(path.parent, os.W_OK) and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, FILE_MODE))
        for each in (path, *(Path(f"{path}-{end}") for end in ("wal", "shm"))):
            if each.exists():
                _close(each, FILE_MODE)


def _close(path: Path, mode: int) -> None:
    """Take from all others what they could do with it; leave it where it is not ours."""
    now = stat.S_IMODE(path.stat().st_mode)
    if now & ~mode and path.stat().st_uid == os.geteuid():
        path.chmod(now & mode)


class OutsideError(ValueError):
    """A name leads out of its folder; the message is one line that names both."""


def inside(folder: Path, name: str) -> Path:
    """Return the path of `name` directly in `folder`; raises OutsideError for any other place."""
    whole = folder.resolve()
    path = (whole / name).resolve()
    if path.parent != whole:
        raise OutsideError(f"{name!r} is no name of a file in {folder}.")
    return path
