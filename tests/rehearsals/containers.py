"""The whole compose file in containers, from images made of Debian's packages.

No registry is asked. Podman keeps everything of it in one folder, so that images named like a
registry's own are seen by nobody else.
"""

import json
import os
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from tests.serving import ROOT, Instance

IMAGES = Path(__file__).parent / "images"
# As deploy/Dockerfile and deploy/compose.yaml call them.
NAMES = {
    "python": "docker.io/library/python:3.11-slim",
    "postgres": "docker.io/library/postgres:17",
    "redis": "docker.io/library/redis:7",
    "caddy": "docker.io/library/caddy:2",
}
NEEDED = ("podman", "runc", "debootstrap", "git")
# Small virtual machines let nobody raise a limit, which is what an engine does unless told.
ENGINE = """\
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=8000:8000"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
"""
STORAGE = """\
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""
PROJECT = "collector"
PATIENCE_SECONDS = 180


def missing() -> str:
    """Return why containers cannot be started here; "" where they can."""
    lacking = [name for name in NEEDED if not shutil.which(name)]
    if os.geteuid() != 0:
        lacking.append("root")
    if not (Path(sys.executable).parent / "podman-compose").exists():
        lacking.append("podman-compose (requirements-dev.txt)")
    return f"Containers need {', '.join(lacking)}" if lacking else ""


class Engine:
    """Podman with a storage of its own; what it has started ends with `close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = {"CONTAINERS_CONF": ENGINE, "CONTAINERS_STORAGE_CONF": STORAGE}
        (folder / "builds").mkdir()
        self.environment = {
            **os.environ,
            # What a build keeps for the next one is gone with the rest.
            "TMPDIR": str(folder / "builds"),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        for name, text in files.items():
            path = folder / f"{name.lower()}.conf"
            path.write_text(text.format(folder=folder))
            self.environment[name] = str(path)

    def podman(self, *words: str, **options: Any) -> str:
        """Return what podman printed; raises AssertionError with what it complained of."""
        return _run(["podman", *words], env=self.environment, **options)

    @contextmanager
    def making_images(self) -> Iterator[None]:
        """Make the images that the Dockerfile and the compose file begin with.

        Python's is there in the block; when it ends, all others are too, made meanwhile.
        """
        self._make_debian()
        context = self.folder / "images"
        shutil.copytree(IMAGES, context)
        (context / "pip.conf").write_text(_pip_settings())
        authorities = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
        shutil.copy(
            authorities or "/etc/ssl/certs/ca-certificates.crt", context / "authorities.pem"
        )
        first, *others = NAMES
        self._build(first)
        with ThreadPoolExecutor(1) as aside:
            made = aside.submit(lambda: [self._build(name) for name in others])
            yield
            made.result()

    def _make_debian(self) -> None:
        root = self.folder / "debian"
        site, release, components = _mirror()
        _run(["debootstrap", "--variant=minbase", release, str(root), site])
        (root / "etc/apt/sources.list").write_text(
            "".join(f"deb {each} {name} {' '.join(parts)}\n" for each, name, parts in components)
        )
        # As in Debian's own small images: nobody reads here, and a build that dies is made again.
        for name in ("doc", "man", "info", "locale"):
            shutil.rmtree(root / "usr/share" / name, ignore_errors=True)
        for name in ("cache/apt/archives", "lib/apt/lists"):
            shutil.rmtree(root / "var" / name)
            (root / "var" / name / "partial").mkdir(parents=True)
        (root / "etc/dpkg/dpkg.cfg.d/fast").write_text("force-unsafe-io\n")
        archive = self.folder / "debian.tar"
        _run(["tar", "-C", str(root), "-cf", str(archive), "."])
        shutil.rmtree(root)
        self.podman("import", str(archive), "localhost/debian")
        archive.unlink()

    def _build(self, name: str) -> None:
        """Build one of the images; what is known of the mirror is asked for once for all."""
        context, volumes = str(self.folder / "images"), []
        for kept, path in {"cache": "/var/cache/apt", "lists": "/var/lib/apt/lists"}.items():
            (self.folder / kept / "archives/partial").mkdir(parents=True, exist_ok=True)
            (self.folder / kept / "partial").mkdir(exist_ok=True)
            volumes += ["--volume", f"{self.folder / kept}:{path}"]
        file = ("--file", f"{context}/{name}", "--tag", NAMES[name])
        self.podman("build", "--quiet", *volumes, *file, context)

    def size(self, image: str) -> int:
        """Return how many bytes an image has."""
        return int(self.podman("image", "inspect", "--format", "{{.Size}}", image))

    def close(self) -> None:
        """Stop and remove everything."""
        for words in (("rm", "--all", "--force", "--time", "0"), ("network", "prune", "--force")):
            subprocess.run(["podman", *words], env=self.environment, capture_output=True)
        # Podman mounts the folder of the layers over itself.
        layers = self.folder / "storage" / "overlay"
        subprocess.run(["umount", str(layers)], capture_output=True)
        shutil.rmtree(self.folder / "storage", ignore_errors=True)


def _run(command: list[str], **options: Any) -> str:
    """Return what a command printed; raises AssertionError with the end of what it said."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    said = f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{said}"
    return done.stdout


def _mirror() -> tuple[str, str, list[tuple[str, str, tuple[str, ...]]]]:
    """Return this machine's own mirror of Debian, its release, and all of its sources."""
    fields = "$(SITE) $(RELEASE) $(COMPONENT) $(ORIGIN)"
    asked = ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]
    rows = [line.split(" ", 3) for line in _run(asked).splitlines()]
    sources: dict[tuple[str, str], dict[str, None]] = {}
    for site, release, component, origin in rows:
        if origin == "Debian":
            sources.setdefault((site, release), {})[component] = None
    site, release = next(each for each in sources if "-" not in each[1])
    return site, release, [(*key, tuple(parts)) for key, parts in sources.items()]


def _pip_settings() -> str:
    """Return pip's settings on this machine as a file of its own."""
    listed = _run([sys.executable, "-m", "pip", "config", "list"]).splitlines()
    pairs = [line.partition("=") for line in listed]
    settings = {name.rpartition(".")[2]: value.strip("'") for name, _, value in pairs}
    # Lies on this machine's disk.
    settings.pop("constraint", None)
    return "[global]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items())


class Site(Instance):
    """A checkout of one version that is served by its own compose file, on this machine's name."""

    def __init__(self, engine: Engine, version: str, folder: Path) -> None:
        """Unpack a version, "" for the files as they lie here."""
        super().__init__(folder, 0)
        self.engine, self.folder, self.version = engine, folder, version
        self.collector_url = "https://localhost"
        self.marketplace_url = "https://work.localhost"
        folder.mkdir()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        pack = f"git archive {version}" if version else f"{' '.join(listed)} | tar --null -T - -c"
        _run(["sh", "-c", f"{pack} | tar -x -C {folder}"], cwd=ROOT)

    def take(self, file: str, other: "Site") -> None:
        """Have a file be as it is in another checkout."""
        shutil.copy(other.folder / file, self.folder / file)

    def compose(self, *words: str) -> str:
        """Return what deploy/containers.sh printed."""
        script = (self.folder / "deploy" / "containers.sh").read_text()
        # The first versions knew no other program than this.
        script = script.replace("exec docker compose", "exec podman-compose")
        (self.folder / "deploy" / "containers.sh").write_text(script)
        environment = {
            **self.engine.environment,
            "DOMAIN": "localhost",
            "COMPOSE": "podman-compose",
        }
        return _run(["sh", "deploy/containers.sh", *words], cwd=self.folder, env=environment)

    def build(self) -> None:
        """Build the images of every program."""
        services = self._services.items()
        self.compose("build", *(name for name, row in services if row.get("build")))

    @property
    def _services(self) -> dict[str, Any]:
        found = yaml.safe_load((self.folder / "deploy/compose.yaml").read_text())["services"]
        return {name: row for name, row in found.items() if "profiles" not in row}

    def up(self) -> None:
        """Start everything; return once the front server says that every part does its work.

        In the order that the compose file asks for: podman before 4.6 cannot wait for what is
        healthy, and one that waits for a service that has ended would start that again.
        """
        begin = ("up", "--detach", "--no-build", "--no-deps")
        self.compose(*begin, "database", "queue")
        wait_until(lambda: self.healthy("database") and self.healthy("queue"), "the databases")
        self.compose(*begin, "prepare")
        assert self.engine.podman("wait", self.container("prepare")).strip() == "0", self.explain()
        first = {"database", "queue", "prepare"}
        self.compose(*begin, *(name for name in self._services if name not in first))
        wait_until(lambda: all(self.health().values()), "the site", self.explain)

    def healthy(self, service: str) -> bool:
        """Return whether a service's own check passes."""
        check = ["podman", "healthcheck", "run", self.container(service)]
        return not subprocess.run(
            check, env=self.engine.environment, capture_output=True
        ).returncode

    def container(self, service: str) -> str:
        """Return the name of a service's container."""
        return f"{PROJECT}_{service}_1"

    def exec(self, service: str, *command: str) -> str:
        """Return what a command printed in a service's container."""
        return self.engine.podman("exec", self.container(service), *command)

    def manage(self, *command: str) -> str:
        """Return what a command of Collector printed."""
        return self.exec("collector-web", "python", "manage.py", *command)

    def ask(self, code: str) -> Any:
        """Return what an expression over Collector's rows is worth, as JSON."""
        printed = self.manage("shell", "--no-imports", "-c", f"import json\n{code}")
        return json.loads(printed.splitlines()[-1])

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """Return a context that trusts the front server's own authority."""
        file = "/data/caddy/pki/authorities/local/root.crt"
        return ssl.create_default_context(cadata=self.exec("front", "cat", file))

    def health(self) -> dict[str, bool]:
        """Return what the site says of its parts, {"front": False} while nobody answers."""
        try:
            with urllib.request.urlopen(
                f"{self.collector_url}/health", timeout=10, context=self.tls
            ) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            return (
                json.loads(error.read() or b'{"front": false}')
                if error.code == 503
                else {"front": False}
            )
        except (OSError, AssertionError, ValueError):
            return {"front": False}

    def examine(self) -> str:
        """Return what `doctor` says of Collector and of the marketplace."""
        doctors = {
            "collector-web": ["python", "manage.py", "doctor"],
            "marketplace-web": ["python", "-m", "marketplace", "doctor"],
        }
        said = [
            subprocess.run(
                ["podman", "exec", self.container(service), *command],
                env=self.engine.environment,
                capture_output=True,
                text=True,
            ).stdout
            for service, command in doctors.items()
        ]
        return "".join(said)

    def is_sound(self) -> bool:
        """Return whether neither finds anything."""
        return self.examine().count("Nothing is wrong") == 2

    def explain(self) -> str:
        """Return which containers run, and what each said last."""
        names = self.engine.podman("ps", "--all", "--format", "{{.Names}} {{.Status}}")
        said = [
            f"-- {line}\n"
            + subprocess.run(
                ["podman", "logs", "--tail", "15", line.split()[0]],
                env=self.engine.environment,
                capture_output=True,
                text=True,
            ).stderr[-1500:]
            for line in names.splitlines()
        ]
        return f"{self.health()}\n" + "\n".join(said)

    def wait_for_backup(self) -> None:
        """Return once a whole copy is there and kept up to date."""
        kept = "ls -d /backups/barman/site/base/2* && find /backups/as-of -mmin -1 | grep as-of"
        check = ["podman", "exec", self.container("backup"), "sh", "-c", kept]

        def is_made() -> bool:
            return not subprocess.run(
                check, env=self.engine.environment, capture_output=True
            ).returncode

        wait_until(is_made, "a backup", self.explain)

    def worker(self, name: str) -> str:
        """Open a worker's account; return the personal link that signs them in."""
        made = self.exec(
            "marketplace-web", "python", "-m", "marketplace", "create_worker", name, "--json"
        )
        return str(json.loads(made)["link"])


def wait_until(is_so: Callable[[], bool], what: str, explain: Callable[[], str] = str) -> float:
    """Return after how many seconds it came to be so; raises AssertionError when it did not."""
    began = time.monotonic()
    while time.monotonic() < began + PATIENCE_SECONDS:
        if is_so():
            return time.monotonic() - began
        time.sleep(0.5)
    raise AssertionError(f"Waited for {what}: {explain()}")
