"""Serves a web application in processes of its own and reads the CPU time they use."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from tests import process_groups
from tests.services import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = 6
STOP_SECONDS = 20.0


class Served:
    """A running server: its address and the CPU seconds of its processes."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.url = f"http://localhost:{port}"

    def cpu_seconds(self) -> float:
        """Return what the server and its workers have used so far."""
        return sum(_cpu(pid) for pid in _family(self.process.pid))

    def memory_mb(self) -> float:
        """Return what the server and its workers hold in memory, pages they share counted once."""
        return sum(_memory(pid) for pid in _family(self.process.pid))


class Speed(NamedTuple):
    """Requests per CPU second of the server, and the 99th percentile of their times."""

    rate: float
    slowest_seconds: float


def measure(
    server: Served,
    request: Callable[[httpx.Client, int], httpx.Response],
    number: int,
    expected: int = 200,
) -> Speed:
    """Return how fast `request` is answered: it is made once with each number from 0.

    The first of ROUNDS rounds warms the server up, the rate is that of the best of the others:
    what else runs on the machine makes all of them slower and none faster. Every answer must
    have the status `expected`.
    """
    times, rates = [], []
    with httpx.Client(base_url=server.url, timeout=30) as client:
        for start in range(0, number, number // ROUNDS):
            numbers = range(start, min(number, start + number // ROUNDS))
            before = server.cpu_seconds()
            for each in numbers:
                began = time.perf_counter()
                answer = request(client, each)
                times.append(time.perf_counter() - began)
                assert answer.status_code == expected, answer.text[:500]
            rates.append(len(numbers) / (server.cpu_seconds() - before))
    slowest = statistics.quantiles(times[number // ROUNDS :], n=100)[98]
    return Speed(max(rates[1:]), slowest)


def _family(pid: int) -> list[int]:
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found += _family(int(child))
    return found


def _cpu(pid: int) -> float:
    """Return the CPU seconds of a process; its stat counts in ticks, which are too coarse."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


@contextmanager
def served(application: str, environment: dict[str, str], workers: int = 1) -> Iterator[Served]:
    """Serve `application` (module:name) with granian until the block is left."""
    port = free_port()
    # The references have Django's own handler, ours the one that they are served with.
    interface = "asginl" if ".asgi:" in application else "wsgi"
    command = [sys.executable, "-m", "granian", "--interface", interface, "--http", "1"]
    command += ["--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", str(workers), "--log-level", "error", application]
    with running(command, {**os.environ, **environment, "PORT": str(port)}, port, ROOT) as server:
        yield server


@contextmanager
def running(
    command: list[str], environment: dict[str, str], port: int, folder: Path
) -> Iterator[Served]:
    """Run a server's command in `folder` until the block is left, with whatever it starts."""
    process = process_groups.begin(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
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
        # oTree leaves a process behind unless all of the group are told.
        process_groups.end(process, STOP_SECONDS)
