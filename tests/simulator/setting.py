"""Loads the product for simulated processes: settings, databases, what a process reads once."""

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.simulator.databases import NAMES, Databases


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a folder for all that is kept of runs, in memory where the machine has such a one."""
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    home = Path(tempfile.mkdtemp(prefix="simulator-", dir=shared))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def start(home: Path) -> Databases:
    """Load the product into this process, which others are forked from; return its databases."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["COLLECTOR_HOME"] = str(home)
    import tests.settings  # noqa: F401

    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    _set(home)
    databases = Databases(home)
    databases.make("template")
    _in_another_process(lambda: _fill(databases))
    _read_at_once()
    return databases


def _set(home: Path) -> None:
    from django.conf import settings

    from collector.celery import app
    from marketplace.tests.boto import ENDPOINT

    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True
    settings.MARKETPLACE_OPEN_SIGN_IN, settings.MARKETPLACE_OPEN_DESK = True, False
    settings.MARKETPLACE_BASE_URL = ""
    settings.MARKETPLACE_DELIVER_EVENTS = False
    settings.MTURK_ENDPOINT_URL = ENDPOINT
    settings.SUBMIT_ORIGINS = [ENDPOINT]
    settings.MTURK_KEYS_FILE = home / "requester.json"
    # What the sockets of several processes need, see sockets.py.
    settings.REDIS_URL = "redis://simulated"
    settings.CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(home / "cache"),
    }
    app.conf.task_always_eager = True
    app.conf.task_eager_propagates = True
    _unthread()


def _unthread() -> None:
    """Let claims be renewed by nobody: one process is at work at a time, and none is slow."""
    from common import long_work

    @contextmanager
    def unthreaded(renew: Callable[[], object], seconds: float) -> Iterator[None]:
        yield

    original = long_work.renewed
    importlib.import_module("annotation.jobs")
    for module in list(sys.modules.values()):
        if getattr(module, "renewed", None) is original:
            module.renewed = unthreaded  # type: ignore[attr-defined]


def _in_another_process(act: Callable[[], None]) -> None:
    pid = os.fork()
    if not pid:
        status = 1
        try:
            act()
            status = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        sys.exit("The simulator could not begin.")


def _fill(databases: Databases) -> None:
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections

    from tests.simulator import worlds

    databases.use("template")
    apps = ("collector", "tasks", "annotation", "marketplace", "auth", "contenttypes", "sessions")
    settings.MIGRATION_MODULES = dict.fromkeys(apps)
    for name in NAMES:
        call_command("migrate", database=name, run_syncdb=True, verbosity=0)
    worlds.begin()
    for name in NAMES:
        if databases.is_sqlite:
            with connections[name].cursor() as cursor:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connections[name].close()


# Tests, what starts a process at once, what needs torch.
LEFT_OUT = {"tests", "migrations", "__main__", "baselines", "asgi", "wsgi", "conftest"}
# What is imported inside functions, since few processes need it.
HEAVY = (
    "spacy",
    "numpy",
    "pyarrow.parquet",
    "rich.console",
    "rich.table",
    "redis",
    "redis.asyncio",
)
HEAVY += ("kombu.transport.memory", "celery.app.trace", "celery.concurrency.solo", "stringprep")
HEAVY += ("cryptography.hazmat.primitives.ciphers", "csp.middleware", "whitenoise.middleware")
HEAVY += ("scipy.stats", "pandas")
ROOMS = ("common", "collector", "tasks", "annotation", "marketplace")


def _read_at_once() -> None:
    """Read what each process would read at its first request: modules, addresses, templates."""
    from django.conf import settings
    from django.template.loader import get_template
    from django.test.client import ClientHandler
    from django.urls import get_resolver

    for path in sorted(path for room in ROOMS for path in (settings.BASE_DIR / room).rglob("*.py")):
        parts = path.relative_to(settings.BASE_DIR).with_suffix("").parts
        if not LEFT_OUT & {*parts}:
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    for name in HEAVY:
        importlib.import_module(name)
    from collector.protocols.loading import get_protocol
    from common import language_pipelines
    from marketplace.wire import shapes
    from tasks.crowd import requester_api
    from tests.simulator import acts, programs, truths, worlds  # noqa: F401
    from tests.simulator.processes import Served

    for urlconf in ("collector.urls", "marketplace.urls"):
        get_resolver(urlconf)._populate()
    for room in ("", "marketplace"):
        folder = settings.BASE_DIR / room / "templates"
        for path in sorted(folder.rglob("*.html")):
            get_template(str(path.relative_to(folder)))
    for name in worlds.PROTOCOLS:
        get_protocol(name)
    language_pipelines.pipeline("en")
    shapes.operation_names()
    ClientHandler().load_middleware()
    client = worlds.wire(settings.MTURK_KEYS_FILE)
    requester_api._client = lambda *_: Served.current.heard(client)  # type: ignore[assignment]
