"""Restores a backup in an empty place and runs both doctors on it: -m deploy.drill FOLDER [TIME].

Problems are printed, and stored in FOLDER/drill.json. The live site keeps running and is not
contacted. Nothing of the restored site leaves this machine.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deploy.backup import databases_of
from deploy.copies import DRILL, FILES, BackupError, Site, chosen, site_of
from deploy.restore import restore
from deploy.server_log import ROOT, programs_of

# With these the restored site would connect to the services of the live site.
LEFT_OUT = (
    "REDIS_URL",
    "CELERY_BROKER_URL",
    "COLLECTOR_BEHIND_TLS_PROXY",
    "DJANGO_SETTINGS_MODULE",
)
URLS = {"default": "DATABASE_URL", "marketplace": "MARKETPLACE_DATABASE_URL"}
START_SECONDS = 600
# Replaying a day of the log takes less.
REPLAY_SECONDS = 6 * 3600.0
DOCTOR = ("doctor", "--json")
# Only the user who starts the restored server connects; it need not match the old settings.
SERVER = "hot_standby = off\nmax_connections = 50\n"


def drill(folder: Path, when: str, environ: Mapping[str, str]) -> list[str]:
    """Restore a backup and return the doctors' findings as sentences; [] if all is well.

    Raises BackupError or OSError if it cannot be restored completely.
    """
    site = site_of(environ)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix=DRILL)))
        sockets = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        given = _environment(site, place, sockets, environ)
        restore(folder, when or chosen(folder, when).name, given)
        if site.is_on_postgresql:
            stack.enter_context(_server(place / "pgdata", sockets))
        if "marketplace" in site.databases:
            stack.enter_context(_marketplace(given))
        found = [line for words in _doctors(site, given) for line in _said(words, given)]
        return found + databases_of(site, folder).shortcomings()


def _environment(
    site: Site, place: Path, sockets: Path, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment variables of the restored site and of its marketplace."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in LEFT_OUT and not name.startswith("MARKETPLACE_")
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    home = place / "home"
    kept |= {
        "COLLECTOR_HOME": str(home),
        "RELEASES": str(place / "releases"),
        "PGDATA": str(place / "pgdata"),
        "PORT": port,
        "MARKETPLACE_DATA_DIR": str(home / "marketplace"),
        "MARKETPLACE_HOSTS": "127.0.0.1",
        "MARKETPLACE_DELIVER_EVENTS": "no",
    }
    for alias, row in site.databases.items():
        user = quote(row.get("USER") or "", safe="")
        kept[URLS[alias]] = (
            f"postgres://{user}@/{quote(row['NAME'])}?host={quote(str(sockets))}"
            if site.is_on_postgresql
            else f"sqlite:///{home / FILES[alias]}"
        )
    if kept.get("MTURK_ENDPOINT_URL") and "marketplace" in site.databases:
        kept["MTURK_CONNECT_URL"] = f"http://127.0.0.1:{port}"
    return kept


@contextmanager
def _server(data: Path, sockets: Path) -> Iterator[None]:
    """Run the restored database server in the block; raises BackupError if it does not start."""
    programs = programs_of((data / "PG_VERSION").read_text().strip())
    (sockets / "postgresql.conf").write_text(SERVER)
    (sockets / "pg_hba.conf").write_text("local all all trust\n")
    options: dict[str, object] = {
        "unix_socket_directories": sockets,
        "hba_file": sockets / "pg_hba.conf",
        "config_file": sockets / "postgresql.conf",
        "port": 5432,
        "ssl": "off",
        "listen_addresses": "",
        "archive_mode": "off",
    }
    words = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    asked = [str(programs / "pg_isready"), "--quiet", "--host", str(sockets), "--port", "5432"]
    log = data.with_name("server.log")
    with log.open("w") as said:
        server = subprocess.Popen(
            [str(programs / "postgres"), "-D", str(data), *words], stdout=said, stderr=said
        )
    try:
        until = time.monotonic() + REPLAY_SECONDS
        # It replays the log up to its target before it accepts connections.
        while subprocess.run(asked, check=False).returncode:
            if server.poll() is not None or time.monotonic() > until:
                why = re.findall(r"(?:FATAL|PANIC): +(?!the database system)(.+)", log.read_text())
                raise BackupError(f"The restored server does not start: {(why or ['?'])[-1]}.")
            time.sleep(0.2)
        yield
    finally:
        # Stop immediately: nothing of the server is kept.
        server.send_signal(signal.SIGQUIT)
        server.wait()


@contextmanager
def _marketplace(environ: Mapping[str, str]) -> Iterator[None]:
    """Serve the restored marketplace in the block; raises BackupError if it does not start."""
    port = environ["PORT"]
    words = ["uvicorn", "--host", "127.0.0.1", "--port", port, "--lifespan", "off"]
    words += ["--log-level", "error", "marketplace.asgi:application"]
    process = subprocess.Popen([sys.executable, "-m", *words], env={**environ}, cwd=ROOT)
    try:
        until = time.monotonic() + START_SECONDS
        while socket.socket().connect_ex(("127.0.0.1", int(port))):
            if process.poll() is not None or time.monotonic() > until:
                raise BackupError("The restored marketplace does not start.")
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait()


def _doctors(site: Site, environ: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the doctors' commands; Collector's doctor examines an embedded marketplace too."""
    alone = "marketplace" in site.databases and environ.get("MTURK_ENDPOINT_URL")
    return [("manage.py", *DOCTOR), *([("-m", "marketplace", *DOCTOR)] if alone else [])]


def _said(words: tuple[str, ...], environ: Mapping[str, str]) -> list[str]:
    """Run a doctor and return its findings as sentences."""
    done = subprocess.run(
        [sys.executable, *words],
        env={**environ},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        rows: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    except ValueError:
        return [(done.stderr.strip().splitlines() or ["The doctor said nothing."])[-1]]
    return [
        f"{row['check']}: {row['why'] or row['means']} " + "; ".join(row["found"][:3])
        for row in rows
    ]


def main(folder: Path, when: str = "") -> int:
    """Run the drill, store its result and return the exit code."""
    os.umask(0o077)
    began = time.time()
    is_whole = False
    try:
        problems = drill(folder, when, os.environ)
        is_whole = True
    except (BackupError, OSError) as error:
        problems = [str(error)]
    seconds = round(time.time() - began, 1)
    told = {"at": began, "seconds": seconds, "problems": problems, "is_whole": is_whole}
    (folder / "drill.json").write_text(json.dumps(told))
    print("\n".join(problems) or f"Restored in {seconds:g} s; nothing is wrong.")
    return bool(problems)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("Name the folder of the backups, and a time where it is not the newest copy.")
    # A termination exits normally, so that the restored server is stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
