"""Serves Collector and the marketplace for a network: every part a process of its own."""

import os
import resource
import shlex
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from collector.home_lock import HomeServedError, locked_home
from collector.serving import supervision
from collector.serving.plan import (
    EVERYTHING,
    MARKETPLACE_ALONE,
    CannotServeError,
    Plan,
    Process,
    plan,
)
from collector.serving.supervision import MOST_DEATHS, Supervisor
from common.command_line import MANAGE
from common.environment import SERVED_WITH
from common.safe_files import private_text

# Each connection is one, and hundreds may come that say nothing.
MOST_FILES = 65_536
FIRST_ACCOUNTS = (
    f"Make yourself an account at each site, if you have none: {MANAGE} createsuperuser, and\n"
    ".venv/bin/python -m marketplace create_host NAME. In another shell the settings are had by\n"
    "set -a; . {file}; set +a"
)


class Command(BaseCommand):
    """serve."""

    help = (
        "Serve Collector, its jobs and the marketplace as plain processes; one that ends is "
        f"started again. Example: DOMAIN=lab.example DATABASE_URL=postgres://… {MANAGE} serve"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--only",
            choices=(EVERYTHING, MARKETPLACE_ALONE),
            default=EVERYTHING,
            help="the marketplace alone needs one host and one port",
        )
        parser.add_argument(
            "--prepare", action="store_true", help="bring the databases up to date and stop"
        )

    def handle(self, **options: Any) -> None:
        """Serve, or say in one line what is missing."""
        try:
            planned = plan(os.environ, options["only"])
            address = planned.settings.get("COLLECTOR_URL") or planned.settings.get(
                "MARKETPLACE_BASE_URL", ""
            )
            with locked_home(settings.HOME, address) as was_cut_off:
                self._serve(planned, was_cut_off=was_cut_off, **options)
        except (CannotServeError, HomeServedError) as error:
            raise CommandError(str(error)) from None

    def _serve(self, planned: Plan, *, was_cut_off: bool, prepare: bool, **_: Any) -> None:
        if planned.settings.get("REDIS_URL"):
            _check_redis(planned.settings["REDIS_URL"])
        if not prepare:
            # The processes of one that was killed may be ending still.
            _check_ports(*planned.listening, supervision.STOP_SECONDS if was_cut_off else 0.0)
        for step in planned.preparations:
            _prepare(step, planned)
        file = _keep(planned)
        if prepare:
            return
        if planned.warning:
            self.stderr.write(planned.warning)
        for name, title in (("COLLECTOR_URL", "Collector"), ("MARKETPLACE_BASE_URL", "Workers")):
            if address := planned.settings.get(name):
                self.stdout.write(f"{title:<12}{address}/")
        self.stdout.write(FIRST_ACCOUNTS.format(file=file))
        self.stdout.write("Stop with Ctrl-C.")
        self.stdout.flush()
        if failed := _run(planned, self.stderr.write):
            raise CommandError(
                f"{failed} has ended {MOST_DEATHS} times within a minute, so everything was "
                "stopped: see above why."
            )


def _check_redis(url: str) -> None:
    import redis

    try:
        redis.Redis.from_url(url, socket_connect_timeout=5).ping()
    except redis.RedisError as error:
        raise CannotServeError(f"Redis does not answer at REDIS_URL: {error}") from None


def _check_ports(host: str, ports: tuple[int, ...], patience_seconds: float = 0.0) -> None:
    until = time.monotonic() + patience_seconds
    for port in ports:
        while error := _why_taken(host, port):
            if time.monotonic() >= until:
                raise CannotServeError(
                    f"Port {port} cannot be had ({error}): set PORT to another one; "
                    "the marketplace and live dialogs take the two ports after it."
                )
            time.sleep(0.1)


def _why_taken(host: str, port: int) -> str:
    """Return why nobody can listen there now; "" where one can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return str(error.strerror)
    return ""


def _popen(process: Process, planned: Plan, **options: Any) -> "subprocess.Popen[str]":
    """Start a process with this interpreter's own programs and the plan's settings."""
    program, *arguments = process.command
    environment = {**os.environ, **planned.settings, "PYTHONUNBUFFERED": "1"}
    # Each site has settings of its own.
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    return subprocess.Popen(
        [str(Path(sys.executable).parent / program), *arguments],
        env=environment,
        cwd=settings.BASE_DIR,
        text=True,
        **options,
    )


def _prepare(step: Process, planned: Plan) -> None:
    with _popen(step, planned, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        said, _ = running.communicate()
    if running.returncode:
        # Drivers add indented advice after the line that says what went wrong.
        lines = [line for line in said.splitlines() if line.strip() and not line[0].isspace()]
        raise CannotServeError(
            f"The {step.name} could not be prepared: {lines[-1] if lines else 'it said nothing'}"
        )


def _keep(planned: Plan) -> Path:
    """Write the settings where a shell can read them, for its owner alone; return the file."""
    path = settings.HOME / SERVED_WITH
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in planned.settings.items()]
    private_text(path, "".join(lines))
    return path


def _run(planned: Plan, say: Callable[[str], None]) -> str:
    """Run every process until asked to stop; return the name of one that cannot run, else ""."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    # In sessions of their own, so that Ctrl-C reaches this process first.
    starts = {
        process.name: partial(_popen, process, planned, start_new_session=True)
        for process in planned.processes
    }
    return Supervisor(say).run(starts)
