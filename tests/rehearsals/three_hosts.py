"""A site on three hosts: the data, what `serve` runs, and further jobs beside the workers.

Passwords and certificates between them are as the operator's manual has them.
"""

import contextlib
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2
from redis import Redis, RedisError

from tests import process_groups, services
from tests.rehearsals import restartable_services
from tests.rehearsals.deployed_processes import wait_until
from tests.rehearsals.network_hosts import Host, certificate
from tests.rehearsals.served_site import SERVE, commands_under
from tests.serving import ROOT, SETTINGS, START_SECONDS, Instance

MOST_CONNECTIONS = 500
JOBS = "celery,dialogs"
# Answers 503 where a part is not well, and what is not 200 is raised.
HEALTH = """
import sys, urllib.request
try:
    urllib.request.urlopen(sys.argv[1] + "/health", timeout=5)
except OSError:
    sys.exit(1)
"""
# Everything that is killed: the host, and words of the command.
VICTIMS = (
    ("web", "collector.asgi:pages"),
    ("web", "collector.asgi:live"),
    ("web", "marketplace.asgi"),
    ("web", JOBS),
    ("workers", JOBS),
    ("web", "--queues dialogs"),
    ("web", "readers"),
    ("web", "beat"),
    ("web", "deliver_events"),
    ("data", "redis-server"),
    ("data", "postgres"),
)


@dataclass
class Site:
    """The three hosts, the supervisor of each, and what they are told."""

    folder: Path
    data: Host
    web: Host
    workers: Host
    settings: dict[str, str] = field(default_factory=dict)
    supervisors: dict[str, "subprocess.Popen[Any]"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make what each host trusts the others by."""
        # Where PostgreSQL listens beside the network: a path that no namespace hides.
        self.sockets = Path(tempfile.mkdtemp(prefix="collector-data-"))
        self.password = secrets.token_hex(16)
        made = {one: certificate(self.folder / one.network, one.address) for one in self._serving}
        self.authorities = self.folder / "authorities.pem"
        self.authorities.write_bytes(b"".join(file.read_bytes() for file, _ in made.values()))
        self.certificates = made

    @property
    def _serving(self) -> tuple[Host, Host]:
        return self.data, self.web

    def environment(self, home: str) -> dict[str, str]:
        """Return what every process of a host is told; each host has a home of its own."""
        at = f"collector:{self.password}@{self.data.address}:5432"
        verified = f"sslmode=verify-full&sslrootcert={self.authorities}"
        kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        kept.pop("DJANGO_SETTINGS_MODULE", None)
        return {
            **kept,
            "COLLECTOR_HOME": str(self.folder / home),
            "DATABASE_URL": f"postgres://{at}/collector?{verified}",
            "MARKETPLACE_DATABASE_URL": f"postgres://{at}/marketplace?{verified}",
            "REDIS_URL": f"rediss://:{self.password}@{self.data.address}:6379/0"
            f"?ssl_cert_reqs=required&ssl_ca_certs={self.authorities}",
            "SSL_CERT_FILE": str(self.authorities),
            "AWS_CA_BUNDLE": str(self.authorities),
            "PYTHONPATH": str(ROOT),
            # A rehearsal may be root's; nobody else is told of it.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
        }

    def supervise(self, name: str, host: Host, commands: dict[str, list[str]], home: str) -> None:
        """Run these on a host; what ends is started again."""
        self.supervisors[name] = host.begin(
            [sys.executable, "-m", "tests.rehearsals.supervised", json.dumps(commands)],
            self.folder / f"{name}.log",
            env=self.environment(home),
            cwd=ROOT,
        )

    def strike(self, name: str, words: str) -> None:
        """Kill the process of a host whose command has these words, without warning."""
        (pid,) = (
            pid
            for pid, command in commands_under(self.supervisors[name].pid).items()
            if words in command
        )
        os.kill(pid, signal.SIGKILL)

    def runs_all(self) -> bool:
        """Return whether every supervisor has all that it keeps running."""
        numbers = {name: len(commands_under(one.pid)) for name, one in self.supervisors.items()}
        return numbers == {"data": 2, "web": 8, "workers": 1}

    def is_well(self) -> bool:
        """Return whether every part says at its page, asked from beside the workers, that it works.

        A process of its own: nothing else on this machine reaches the hosts.
        """
        asks = self.workers.inside(sys.executable, "-c", HEALTH, f"https://{self.web.address}:8000")
        return not subprocess.run(asks, env=self.environment("workers"), check=False).returncode

    def said(self) -> str:
        """Return the last of what every process said."""
        logs = [*self.folder.glob("*.log"), *(self.folder / "logs").glob("*.log")]
        return "\n".join(f"== {log.name}\n{log.read_text()[-2000:]}" for log in sorted(logs))

    def instance(self, name: str, host: Host, **settings: str) -> Instance:
        """Return what works on the databases from a host, with the settings that serving chose."""
        kept = shlex.split((self.folder / "web" / "serve.env").read_text())
        told = {**dict(each.split("=", 1) for each in kept), **self.environment(name), **settings}
        one = Instance(self.folder / name, int(told["PORT"]), told)
        one.inside = host.inside()
        return one

    def stop(self) -> None:
        """End everything, whoever uses the data first."""
        for name in ("workers", "web", "data"):
            if name in self.supervisors:
                process_groups.end(self.supervisors.pop(name), 30)
        shutil.rmtree(self.sockets, ignore_errors=True)

    def begin_data(self) -> None:
        """Start PostgreSQL and Redis, which let in by TLS and with a password alone."""
        user = services._unprivileged(self.sockets) or ""
        made, key = self.certificates[self.data]
        own = [self.sockets / made.name, self.sockets / key.name]
        for source, target in zip((made, key), own, strict=True):
            shutil.copy(source, target)
            shutil.chown(target, user)
            target.chmod(0o600)
        cluster = self.sockets / "data"
        make = [str(services.binary("initdb")), "-D", str(cluster), "-U", "collector"]
        make += ["-A", "trust", "-E", "UTF8", "--no-sync"]
        quiet = subprocess.DEVNULL
        subprocess.run(make, check=True, stdout=quiet, user=user, cwd=self.sockets)
        network = f"{self.data.address.rpartition('.')[0]}.0/24"
        (cluster / "pg_hba.conf").write_text(
            f"local all all trust\nhostssl all all {network} scram-sha-256\n"
        )
        # Whoever is killed still knows what was committed: the machine goes on.
        options = ["fsync=off", f"max_connections={MOST_CONNECTIONS}", "ssl=on"]
        options += [f"ssl_cert_file={own[0]}", f"ssl_key_file={own[1]}"]
        postgres = ["setpriv", f"--reuid={user}", f"--regid={_group_of(user)}", "--clear-groups"]
        postgres += [str(services.binary("postgres")), "-D", str(cluster), "-k", str(self.sockets)]
        postgres += ["-h", self.data.address, *(w for one in options for w in ("-c", one))]
        redis = [str(services.binary("redis-server")), "--bind", self.data.address, "--port", "0"]
        redis += ["--tls-port", "6379", "--tls-cert-file", str(made), "--tls-key-file", str(key)]
        redis += ["--tls-ca-cert-file", str(self.authorities), "--tls-auth-clients", "no"]
        redis += ["--requirepass", self.password, "--unixsocket", str(self.sockets / "redis")]
        redis += ["--save", "", "--appendonly", "no"]
        self.supervise("data", self.data, {"PostgreSQL": postgres, "Redis": redis}, "data")
        assert wait_until(self.has_data, 60), (self.folder / "data.log").read_text()
        server = self.at_socket("postgres")
        restartable_services.make_databases(server, "collector", "marketplace")
        connected = psycopg2.connect(server)
        with connected, connected.cursor() as cursor:
            cursor.execute(f"ALTER ROLE collector PASSWORD '{self.password}'")
        connected.close()

    def at_socket(self, database: str) -> str:
        """Return the address of a database for whoever is on its machine."""
        return f"postgres://collector@/{database}?host={self.sockets}"

    def has_data(self) -> bool:
        """Return whether both services let in whoever has the password."""
        with contextlib.suppress(psycopg2.OperationalError, RedisError):
            psycopg2.connect(self.at_socket("postgres")).close()
            path, word = str(self.sockets / "redis"), self.password
            return bool(Redis(unix_socket_path=path, password=word).ping())
        return False

    def begin_web(self) -> None:
        """Start all that `serve` runs, with a certificate."""
        made, key = self.certificates[self.web]
        told = {
            **self.environment("web"),
            "DOMAIN": self.web.address,
            "PORT": "8000",
            "TLS_CERTIFICATE": str(made),
            "TLS_KEY": str(key),
            "MARKETPLACE_OPEN_SIGN_IN": "yes",
            "LOGS": str(self.folder / "logs"),
        }
        (self.folder / "logs").mkdir()
        self.supervisors["web"] = self.web.begin(
            [sys.executable, "-c", SERVE], self.folder / "web.log", env=told, cwd=ROOT
        )
        log = self.folder / "web.log"
        serves = wait_until(lambda: "Stop with" in log.read_text(), START_SECONDS)
        assert serves, log.read_text()

    def begin_jobs(self) -> None:
        """Start further jobs beside the workers: they need the keys, and no folder of the web's."""
        home = self.folder / "workers"
        home.mkdir()
        for name in ("requester.json", "secret_key"):
            shutil.copy(self.folder / "web" / name, home / name)
        kept = dict(
            each.split("=", 1)
            for each in shlex.split((self.folder / "web" / "serve.env").read_text())
        )
        told = {**kept, **self.environment("workers")}
        celery = [str(Path(sys.executable).parent / "celery"), "--quiet", "-A", "collector"]
        celery += ["worker", "--loglevel", "warning", "--queues", JOBS, "--hostname", "workers"]
        self.supervisors["workers"] = self.workers.begin(
            [sys.executable, "-m", "tests.rehearsals.supervised", json.dumps({"jobs": celery})],
            self.folder / "workers.log",
            env=told,
            cwd=ROOT,
        )


def _group_of(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid


@contextlib.contextmanager
def site(folder: Path, data: Host, web: Host, workers: Host) -> Iterator[Site]:
    """Yield the site, up; nothing of it is left afterwards."""
    one = Site(folder, data, web, workers)
    try:
        one.begin_data()
        one.begin_web()
        one.begin_jobs()
        yield one
    finally:
        one.stop()
