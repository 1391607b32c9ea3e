"""Hosts joined by a switch: networks of their own on this machine, gone when the rehearsal ends."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import process_groups

SUBNET = "10.231.78"
SWITCH = "switch"


@dataclass(frozen=True)
class Host:
    """A network of its own, with one address on the switch and its own loopback."""

    network: str
    address: str

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs this one on the host, under the same process id."""
        return ["ip", "netns", "exec", self.network, *command]

    def begin(self, command: list[str], log: Path, **options: Any) -> "subprocess.Popen[Any]":
        """Start a process on the host; what it says is kept."""
        with log.open("ab") as file:
            options = {"stdout": file, "stderr": file, **options}
            return process_groups.begin(self.inside(*command), **options)


@contextlib.contextmanager
def hosts(*names: str) -> Iterator[list[Host]]:
    """Yield hosts that reach each other and nobody else; skips where nobody can make them."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("Further hosts need root and `ip netns` (iproute2)")
    forget_leftovers()
    with contextlib.ExitStack() as stack:
        try:
            switch = stack.enter_context(_network(SWITCH))
            ip("-n", switch, "link", "add", "lan", "type", "bridge")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"This machine lets nobody make further hosts: {error.stderr.strip()}")
        ip("-n", switch, "link", "set", "lan", "up")
        made = []
        for number, name in enumerate(names, 1):
            host = Host(stack.enter_context(_network(name)), f"{SUBNET}.{number}")
            # A cable from the switch to the host.
            ends = ("type", "veth", "peer", "name", "eth0", "netns", host.network)
            ip("-n", switch, "link", "add", name, *ends)
            ip("-n", switch, "link", "set", name, "master", "lan", "up")
            ip("-n", host.network, "addr", "add", f"{host.address}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", host.network, "link", "set", device, "up")
            made.append(host)
        yield made


@contextlib.contextmanager
def _network(name: str) -> Iterator[str]:
    own = f"{name}-collector-{os.getpid()}"
    ip("netns", "add", own)
    try:
        yield own
    finally:
        ip("netns", "delete", own)


def forget_leftovers() -> None:
    """Remove the networks of rehearsals that were killed: theirs end with the process's id."""
    for line in ip("netns", "list").splitlines():
        name = line.split(" ")[0]
        _, _, pid = name.rpartition("-collector-")
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            ip("netns", "delete", name)


def ip(*words: str) -> str:
    """Return what a command of iproute2 says."""
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def certificate(folder: Path, address: str) -> tuple[Path, Path]:
    """Return a certificate for an address, which is its own authority, and its key."""
    folder.mkdir(parents=True, exist_ok=True)
    made, key = folder / "certificate.pem", folder / "key.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    named = ["-subj", f"/CN={address}", "-addext", f"subjectAltName=IP:{address}"]
    into = ["-out", str(made), "-keyout", str(key)]
    subprocess.run([*request, *named, *into], check=True, capture_output=True)
    return made, key
