"""Serves a WSGI application in processes of its own and reads the CPU time they use."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.services import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


class Served:
    """A running server: its address and the CPU seconds of its processes."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.url = f"http://localhost:{port}"

    def cpu_seconds(self) -> float:
        """Return what the server and its workers have used so far."""
        return sum(_cpu(pid) for pid in _family(self.process.pid))


def _family(pid: int) -> list[int]:
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found += _family(int(child))
    return found


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def served(application: str, environment: dict[str, str], workers: int = 1) -> Iterator[Served]:
    """Serve `application` (module:name) with granian until the block is left."""
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", str(workers), "--log-level", "error", application]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment, "PORT": str(port)}
    )
    server = Served(process, port)
    try:
        for _ in range(200):
            try:
                httpx.get(server.url, timeout=2)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=20)
