"""Plans how Collector and the marketplace are served: addresses, settings, processes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from collector.environment import DEFAULT_PORTS, ONE_SITE, origin, read
from common.environment import WrongEnvironment

EVERYTHING, MARKETPLACE_ALONE = "all", "marketplace"
NO_ENCRYPTION = (
    "No TLS: everything, passwords too, crosses the network in the clear. Do this on a network "
    "you trust, or set TLS_CERTIFICATE and TLS_KEY, or put a front server before it."
)
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
# A connection holds no thread while its request is still coming: thousands may be silent, each for
# half a minute (granian's own time for a request's head, which it keeps for HTTP/1 alone).
WEB: tuple[str, ...] = (
    *("granian", "--interface", "asginl", "--http", "1", "--workers", "2"),
    *("--backlog", "4096", "--backpressure", "4096", "--workers-kill-timeout", "10"),
    *("--respawn-failed-workers", "--log-level", "warning"),
)

# A browser that is cut off is noticed within both times: the page's own timers may sleep.
PING_SECONDS = 10
LONGEST_MESSAGE_BYTES = 16_384
LIVE: tuple[str, ...] = (
    *("uvicorn", "--workers", "2", "--lifespan", "off", "--log-level", "warning"),
    *("--no-access-log", "--ws", "websockets-sansio"),
    *("--ws-ping-interval", str(PING_SECONDS), "--ws-ping-timeout", str(PING_SECONDS)),
    *("--ws-max-size", str(LONGEST_MESSAGE_BYTES), "--ws-per-message-deflate", "false"),
)
# Beside it, the marketplace and the sockets listen on the two that follow.
MOST_PORT = 65_533


class CannotServeError(Exception):
    """Something is missing or wrong; the message is one line that says what to set."""


@dataclass(frozen=True)
class Process:
    """One process to run, as it is typed where Collector's virtual environment is active."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What is started, with which settings; `listening` are the host and the ports."""

    settings: dict[str, str]
    preparations: tuple[Process, ...]
    processes: tuple[Process, ...]
    listening: tuple[str, tuple[int, ...]]
    warning: str


def plan(environ: Mapping[str, str], only: str = EVERYTHING) -> Plan:
    """Return how to serve with these environment variables.

    `only` "marketplace" leaves Collector out. Raises CannotServeError.
    """
    try:
        environment = read(environ)
    except WrongEnvironment as wrong:
        raise CannotServeError(str(wrong)) from None
    alone = only == MARKETPLACE_ALONE
    needed = {
        "DATABASE_URL": "postgres://USER:PASSWORD@HOST/collector",
        "MARKETPLACE_DATABASE_URL": "postgres://USER:PASSWORD@HOST/marketplace",
        "REDIS_URL": "redis://HOST:6379/0",
    }
    if alone:
        needed = {name: needed[name] for name in ("MARKETPLACE_DATABASE_URL",)}
    missing = [f"{name}={example}" for name, example in needed.items() if not environ.get(name)]
    if missing:
        other = "" if alone else "; or install Docker with compose, and `make serve` brings them"
        raise CannotServeError(f"Set {', '.join(missing)} to say where the services are{other}.")
    if environ.get("DATABASE_URL") == environ["MARKETPLACE_DATABASE_URL"]:
        raise CannotServeError(
            "DATABASE_URL and MARKETPLACE_DATABASE_URL are the same: make a database for each."
        )
    tls = _tls(environ)
    port = environment.PORT
    market_port = port if alone else port + 1
    if not alone and port > MOST_PORT:
        raise CannotServeError(f"PORT={port}: {port + 1} and {port + 2} are needed too; lower it.")
    market_url = environment.MARKETPLACE_URL or _address(environ, tls, market_port)
    own_url = "" if alone else environment.COLLECTOR_URL or _address(environ, tls, port)
    addresses = [url for url in (own_url, market_url) if url]
    if len({origin(address)[1:] for address in addresses}) < len(addresses):
        raise CannotServeError(ONE_SITE.format(addresses[0]))
    schemes = {origin(address)[0] for address in addresses}
    if len(schemes) > 1 or (tls and schemes == {"http"}):
        raise CannotServeError(
            "Begin COLLECTOR_URL and MARKETPLACE_URL both with https://, or both with http:// and "
            "without TLS_CERTIFICATE."
        )
    fronted = schemes == {"https"} and not tls
    inside = f"http://127.0.0.1:{market_port}" if fronted else market_url
    endpoint = environment.MTURK_ENDPOINT_URL or inside
    host = "127.0.0.1" if fronted else "0.0.0.0"
    hosts = dict.fromkeys(origin(address)[1] for address in (market_url, endpoint))
    found = {
        "MARKETPLACE_DATABASE_URL": environ["MARKETPLACE_DATABASE_URL"],
        "MARKETPLACE_DATA_DIR": str(environment.home / "marketplace"),
        "MARKETPLACE_BASE_URL": market_url,
        "MARKETPLACE_HOSTS": ",".join(hosts),
        "MARKETPLACE_BEHIND_TLS_PROXY": "yes" if fronted else "no",
        "MARKETPLACE_OPEN_SIGN_IN": "no",
        "MARKETPLACE_OPEN_DESK": "no",
        "MARKETPLACE_DELIVER_EVENTS": "no",
        "MARKETPLACE_HASHED_STATIC": "yes",
    }
    settings = {name: environ.get(name) or value for name, value in found.items()}
    if not alone:
        settings |= {
            "DATABASE_URL": environ["DATABASE_URL"],
            "REDIS_URL": environ["REDIS_URL"],
            "COLLECTOR_HOME": str(environment.home),
            "COLLECTOR_BEHIND_TLS_PROXY": "yes" if fronted else "no",
            "COLLECTOR_URL": own_url,
            "MARKETPLACE_URL": market_url,
            "MTURK_ENDPOINT_URL": endpoint,
            "PORT": str(port),
            "COLLECTOR_HASHED_STATIC": "yes",
        }
        if environment.MTURK_CONNECT_URL:
            settings["MTURK_CONNECT_URL"] = environment.MTURK_CONNECT_URL
        live_url = environment.COLLECTOR_LIVE_URL
        if live_url or not fronted:
            settings["COLLECTOR_LIVE_URL"] = live_url or _address(environ, tls, port + 2)
    market = ("python", "-m", "marketplace")
    collect = ("collectstatic", "--no-input", "--verbosity", "0")
    steps = [
        Process("marketplace's database", (*market, "migrate", "--database", "marketplace")),
        Process("marketplace's style", (*market, *collect)),
    ]
    if not alone:
        keys = ("--keys-file", str(environment.home / "requester.json"), "--endpoint-url", endpoint)
        steps += [
            Process("Collector's database", ("python", "manage.py", "migrate")),
            Process("Collector's style", ("python", "manage.py", *collect)),
            Process(
                "requester's account", (*market, "create_requester", "The dataset team", *keys)
            ),
        ]
    return Plan(
        settings=settings,
        preparations=tuple(steps),
        processes=_processes(alone, host, port, market_port, tls),
        listening=(host, (market_port,) if alone else (port, market_port, port + 2)),
        warning="" if market_url.startswith("https:") else NO_ENCRYPTION,
    )


def _tls(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Return certificate and key, None where neither is given."""
    names = ("TLS_CERTIFICATE", "TLS_KEY")
    given = [environ.get(name, "") for name in names]
    if not any(given):
        return None
    for name, path in zip(names, given, strict=True):
        if not Path(path).is_file():
            raise CannotServeError(
                f"{name}={path!r} is no file: set both TLS_CERTIFICATE, TLS_KEY."
            )
    return str(Path(given[0]).resolve()), str(Path(given[1]).resolve())


def _address(environ: Mapping[str, str], tls: object, port: int) -> str:
    """Return the address of a port on DOMAIN, which is asked for only where it is needed."""
    domain = environ.get("DOMAIN", "")
    if not NAME.fullmatch(domain):
        raise CannotServeError(
            f"DOMAIN={domain!r}: set it to the name or IPv4 address under which browsers reach "
            "this machine, such as lab.example, without https:// and without a port."
        )
    scheme = "https" if tls else "http"
    return f"{scheme}://{domain}" + ("" if port == DEFAULT_PORTS[scheme] else f":{port}")


def _processes(
    alone: bool, host: str, port: int, market_port: int, tls: tuple[str, str] | None
) -> tuple[Process, ...]:
    secure = (
        ("--ssl-certificate", tls[0], "--ssl-keyfile", tls[1], "--ssl-protocol-min", "tls1.2")
        if tls
        else ()
    )

    def web(site: str, application: str, number: int) -> Process:
        listening = ("--host", host, "--port", str(number), *secure)
        return Process(f"{site}-web", (*WEB, *listening, application))

    live_secure = ("--ssl-certfile", tls[0], "--ssl-keyfile", tls[1]) if tls else ()
    live_listening = ("--host", host, "--port", str(port + 2), *live_secure)
    # Quiet, it says what happens alone.
    celery = ("celery", "--quiet", "-A", "collector")
    worker = (*celery, "worker", "--loglevel", "warning", "--queues")
    market = (
        web("marketplace", "marketplace.asgi:application", market_port),
        Process("marketplace-events", ("python", "-m", "marketplace", "deliver_events")),
    )
    if alone:
        return market
    return (
        web("collector", "collector.asgi:pages", port),
        Process("collector-live", (*LIVE, *live_listening, "collector.asgi:live")),
        Process("collector-jobs", (*worker, "celery,dialogs")),
        # Nobody waits for a partner because a marketplace is slow.
        Process(
            "collector-dialogs", (*worker, "dialogs", "--pool", "solo", "--hostname", "dialogs")
        ),
        # Minutes of work at a time, one core each; more of them train more folds at once.
        Process(
            "collector-readers", (*worker, "readers", "--pool", "solo", "--hostname", "readers")
        ),
        Process("collector-clock", (*celery, "beat", "--loglevel", "warning")),
        *market,
    )
