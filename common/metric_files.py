"""Lets the processes of one machine count together, in files that each of them adds to.

The process that is asked for metrics reads the files of all. Counts of ended processes are kept: a
sum that fell would look to Prometheus like a counter that began anew.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest, multiprocess, values
from prometheus_client.mmap_dict import MmapedDict

from common.safe_files import FOLDER_MODE

# Read by prometheus_client as well.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# Of containers that share a folder, each has a first process.
_HOST = socket.gethostname()
_ENDED = f"{_HOST}-ended"


def count_together(folder: Path) -> None:
    """Have this process add what it counts to files in `folder`; called before anything counts."""
    folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    os.environ[FOLDER] = str(folder)
    values.ValueClass = values.MultiProcessValue(lambda: f"{_HOST}-{os.getpid()}")


def counted_together() -> bytes:
    """Return what all processes have counted, for Prometheus; b"" where each counts alone."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return b""
    with _alone(Path(folder)):
        _keep_ended(Path(folder))
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry, path=folder)
        return generate_latest(registry)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _keep_ended(folder: Path) -> None:
    """Add the files of this host's processes that have ended to one, and remove them."""
    for path in folder.glob(f"*_{_HOST}-*.db"):
        kind, pid = path.stem.split("_", 1)[0], path.stem.rpartition("-")[2]
        if not pid.isdigit() or _is_running(int(pid)):
            continue
        ended = MmapedDict(str(folder / f"{kind}_{_ENDED}.db"))
        for key, value, at, _ in MmapedDict.read_all_values_from_file(str(path)):
            ended.write_value(key, ended.read_value(key)[0] + value, at)
        ended.close()
        path.unlink()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
