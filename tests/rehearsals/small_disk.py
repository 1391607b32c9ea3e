"""A disk of its own, small enough to be filled, which is gone with whoever wanted it."""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests import process_groups

SIZE = "1200m"
# Whoever is killed takes nothing down: so a process beside it does, which is told to end by then.
KEEPER = """
import shutil, signal, subprocess, sys, threading
disk, size = sys.argv[1:]
over = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: over.set())
mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", disk]
mounted = subprocess.run(mount, capture_output=True).returncode == 0
print(mounted, flush=True)
over.wait()
if mounted:
    subprocess.run(["umount", "-l", disk])
shutil.rmtree(disk, ignore_errors=True)
"""


@contextlib.contextmanager
def small_disk(size: str = SIZE) -> Iterator[Path]:
    """Yield a folder, on a disk of its own where that can be had; whatever is temporary is there.

    size: as `mount` takes it.
    """
    # Addresses of PostgreSQL's own sockets are short, and it runs as somebody else.
    disk = Path(tempfile.mkdtemp(prefix="disk-"))
    disk.chmod(0o755)
    keeper = process_groups.begin(
        [sys.executable, "-c", KEEPER, str(disk), size], stdout=subprocess.PIPE, text=True
    )
    assert keeper.stdout.readline()
    kept, tempfile.tempdir = tempfile.tempdir, str(disk)
    try:
        yield disk
    finally:
        tempfile.tempdir = kept
        process_groups.end(keeper)
