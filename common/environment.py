"""Reads settings from the environment, for both halves: what may stand there, and what it means."""

import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ValidationError

# Of a secret: shorter or plainer ones are tried out.
SHORTEST_SECRET, FEWEST_CHARACTERS = 32, 8
# In a home: the settings that `serve` was begun with.
SERVED_WITH = "serve.env"
SMTP_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
# What the library says in words of its own, by the kind of problem.
WANTED = {
    "literal_error": "text or json",
    "bool_parsing": "yes or no",
    "int_parsing": "a whole number",
    "float_parsing": "a number",
}
Settings = TypeVar("Settings", bound=BaseModel)


class WrongEnvironment(Exception):
    """A setting in the environment is wrong; the message names it and says what to do."""


def read_environment(settings: type[Settings], environ: Mapping[str, str]) -> Settings:
    """Return the settings found in `environ`; empty variables count as not set.

    settings: a model whose fields are the variables' names. Raises WrongEnvironment naming every
    wrong variable at once.
    """
    try:
        return settings.model_validate(given(settings, environ))
    except ValidationError as error:
        lines = [_sentence(problem) for problem in error.errors()]
        raise WrongEnvironment("Wrong settings in the environment. " + " ".join(lines)) from None


def given(settings: type[BaseModel], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of these settings that say something."""
    return {name: environ[name] for name in settings.model_fields if environ.get(name)}


def _sentence(problem: Any) -> str:
    name, value = problem["loc"][0], problem["input"]
    if problem["type"] in WANTED:
        return f"{name}={value!r}: write {WANTED[problem['type']]}."
    return f"{name}: {problem['msg'].removeprefix('Value error, ')}."


def split(address: str) -> SplitResult:
    """Return an address's parts, its port among them; raises ValueError with a sentence."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{address[:100]!r} is no address ({error})") from None
    return parts


def check_file_serves(home: Path, variable: str) -> None:
    """Raise WrongEnvironment where a home is served on a database, which `variable` has to name.

    Its SQLite file would be made anew, or be an old one.
    """
    kept = home / SERVED_WITH
    if kept.exists() and f"\n{variable}=" in f"\n{kept.read_text('utf-8')}":
        raise WrongEnvironment(
            f"{variable} is not set, and {kept} says that this home is served with one. First: "
            f"set -a; . {kept}; set +a. If it is so no more, delete that file."
        )


def database(url: str) -> dict[str, Any]:
    """Return Django's settings for one database from `url` (sqlite:///file or postgres://…).

    Raises ValueError with a sentence for any other scheme or a missing name.
    """
    parts = split(url)
    name = unquote(parts.path.removeprefix("/"))
    if not name:
        raise ValueError(f"{url!r} names no database: end it with /NAME")
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": name,
            "OPTIONS": {
                "timeout": 20,
                # Readers that later write queue up instead of failing half-way.
                "transaction_mode": "IMMEDIATE",
                # What is deleted is gone from the file too, such as a person who was erased.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                "PRAGMA secure_delete=ON;",
            },
            "CONN_MAX_AGE": 60,
            # A file of its own for every run, so that two runs never share one.
            "TEST": {"NAME": f"{name}.test-{os.getpid()}"},
        }
    if parts.scheme in ("postgres", "postgresql"):
        # Nobody waits longer for a server that has stopped.
        options = {"connect_timeout": "3"} | dict(parse_qsl(parts.query))
        return {
            "ENGINE": "common.postgresql",
            "NAME": name,
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
            "PORT": str(parts.port or options.pop("port", "")),
            "OPTIONS": options,
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
        }
    raise ValueError(f"{url!r} is no database we know: use sqlite:///FILE or postgres://…")


def mail_server(url: str) -> dict[str, Any]:
    """Return Django's settings for the mail server at `url`; without one, this machine's own.

    Raises ValueError with a sentence for any other scheme, or without a host.
    """
    parts = split(url or "smtp://localhost:25")
    if parts.scheme not in SMTP_PORTS or not parts.hostname:
        raise ValueError(
            f"{url!r}: write smtp://, smtp+tls:// or smtps:// and then USER:PASSWORD@HOST:PORT"
        )
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or SMTP_PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": 20,  # seconds
    }


def key_in(path: Path) -> str:
    """Return the signing key kept at `path`, for its owner alone; made at the first call.

    Processes that start at once get the same: a key is in its place whole, or not at all. Raises
    WrongEnvironment for a file that lost it, since a new key ends every sign-in and link.
    """
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            # Or a machine that stops now may leave an empty file in its place.
            os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(file.name, path)
    if key := path.read_text().strip():
        return key
    raise WrongEnvironment(
        f"{path} is empty: put it back from a backup, or delete it. Then a new key is made, "
        "everybody signs in again, and pages that are open cannot be handed in."
    )


def _database_address(value: str) -> str:
    if value:
        database(value)
    return value


def _mail_server_address(value: str) -> str:
    mail_server(value)
    return value


def _sender(value: str) -> str:
    if value and ("@" not in value or not value.isprintable()):
        raise ValueError(f"{value!r} must be an address such as work@lab.example")
    return value


def _secret(value: str) -> str:
    if value and (len(value) < SHORTEST_SECRET or len(set(value)) < FEWEST_CHARACTERS):
        raise ValueError(
            f"it can be guessed: write {SHORTEST_SECRET} random characters or more, such as "
            "`openssl rand -base64 48` prints, or leave it out"
        )
    return value


# ISO 4217: of these the smallest unit is the whole, or a thousandth.
NOT_IN_HUNDREDTHS = frozenset(
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF "
    "BHD IQD JOD KWD LYD OMR TND".split()
)


def _currency(value: str) -> str:
    if value and re.fullmatch("[A-Z]{3}", value) is None:
        raise ValueError("write the currency's three letters by ISO 4217, like EUR")
    if value in NOT_IN_HUNDREDTHS:
        raise ValueError("amounts here have two decimals, and this currency has none or three")
    return value


# What a variable may hold; empty is allowed and means that it is not set.
DatabaseAddress = Annotated[str, AfterValidator(_database_address)]
Currency = Annotated[str, AfterValidator(_currency)]
LogFormat = Literal["text", "json"]
Secret = Annotated[str, AfterValidator(_secret)]
MailServerAddress = Annotated[str, AfterValidator(_mail_server_address)]
MailSender = Annotated[str, AfterValidator(_sender)]
