"""Reads Collector's settings from the environment and refuses a wrong value at start."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from collector.home_lock import served_port
from common.environment import (
    Currency,
    DatabaseAddress,
    LogFormat,
    MailSender,
    MailServerAddress,
    Secret,
    WrongEnvironment,
    check_file_serves,
    database,
    given,
    read_environment,
    split,
)

DEFAULT_PORTS = {"http": 80, "https": 443}
ONE_SITE = (
    "{} cannot be both sites: a task's page could then act as the worker at the marketplace. Give "
    "MARKETPLACE_URL another host or port, or serve it alone with ONLY=marketplace."
)


class Environment(BaseModel):
    """Every variable Collector reads; the settings in docs/operator.md are checked against it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    DATABASE_URL: DatabaseAddress = Field(
        "", description="Collector's database; empty: a SQLite file"
    )
    MARKETPLACE_DATABASE_URL: DatabaseAddress = Field(
        "", description="the embedded marketplace's database"
    )
    REDIS_URL: str = Field("", description="broker and cache; empty: inside the process")
    CELERY_BROKER_URL: str = Field("", description="broker of the jobs; empty: inside the process")
    MTURK_ENDPOINT_URL: str = Field(
        "", description="the marketplace's address; empty: the one embedded in this process"
    )
    MTURK_CONNECT_URL: str = Field(
        "", description="where that marketplace is asked; empty: at MTURK_ENDPOINT_URL"
    )
    MTURK_KEYS_FILE: str = Field("", description="JSON file with the requester account's keys")
    CROWD_HISTORY: bool = Field(
        False, description="the marketplace's workers have a past: country, approved work"
    )
    MARKETPLACE_URL: str = Field("", description="where workers reach the marketplace's site")
    MARKETPLACE_MAIL_FROM: MailSender = Field(
        "", description="sender of the embedded marketplace's invitations; empty: no mail"
    )
    MARKETPLACE_SMTP_URL: MailServerAddress = Field(
        "smtp://localhost:25", description="the mail server they go out by"
    )
    MARKETPLACE_PAYMENT_TERMS: str = Field(
        "", description="how and by when the embedded marketplace's host pays"
    )
    MARKETPLACE_CURRENCY_SYMBOL: str = Field("$", description="written before amounts there")
    MARKETPLACE_CURRENCY: Currency = Field(
        "", description="its three letters by ISO 4217, for payout files"
    )
    COLLECTOR_URL: str = Field("", description="where browsers reach Collector")
    COLLECTOR_LIVE_URL: str = Field(
        "", description="where browsers reach the sockets of live dialogs; empty: COLLECTOR_URL"
    )
    COLLECTOR_BEHIND_TLS_PROXY: bool = Field(
        False, description="a front server sets X-Forwarded-For and X-Forwarded-Proto itself"
    )
    COLLECTOR_HOME: str = Field("var", description="folder for databases, keys and stored files")
    COLLECTOR_SECRET_KEY: Secret = Field(
        "", description="signs tokens; empty: made and kept in home"
    )
    COLLECTOR_DATA: str = Field("", description="folder of real data that tests read")
    COLLECTOR_PROTOCOLS: str = Field("", description="extra folders of protocols, split by ':'")
    COLLECTOR_HASHED_STATIC: bool = Field(
        False, description="style and scripts are collected, and named after what is in them"
    )
    COLLECTOR_LOG_FORMAT: LogFormat = Field(
        "text", description="json: a line of JSON for each step, to follow one piece of work by"
    )
    COLLECTOR_METRICS_TOKEN: Secret = Field(
        "", description="clients that send it read /metrics; empty: nobody, and nothing is counted"
    )
    PORT: int = Field(8000, ge=1, le=65535, description="the port to listen on")

    @field_validator("REDIS_URL")
    @classmethod
    def _redis(cls, value: str) -> str:
        if value and split(value).scheme not in ("redis", "rediss", "unix"):
            raise ValueError(f"{value!r} must start with redis://, rediss:// or unix://")
        return value

    @field_validator("REDIS_URL", "COLLECTOR_BEHIND_TLS_PROXY")
    @classmethod
    def _of_a_server(cls, value: str | bool, others: ValidationInfo) -> str | bool:
        # What else a server's settings say is there: its database was lost on the way.
        if value and others.data.get("DATABASE_URL") == "":
            raise ValueError(
                "a server's database has to be named beside it: DATABASE_URL='postgres://…', in "
                "quotes, since a shell ends a line at an & that stands in none"
            )
        return value

    @field_validator("CELERY_BROKER_URL")
    @classmethod
    def _broker(cls, value: str) -> str:
        if value and not split(value).scheme:
            raise ValueError(f"{value!r} must be an address such as redis://HOST:6379/0")
        return value

    @field_validator("COLLECTOR_PROTOCOLS")
    @classmethod
    def _folders(cls, value: str) -> str:
        missing = [each for each in value.split(":") if each and not Path(each).is_dir()]
        if missing:
            raise ValueError(f"{missing[0]!r} is no folder: name folders of protocols")
        return value

    @field_validator(
        *("MTURK_ENDPOINT_URL", "MTURK_CONNECT_URL", "MARKETPLACE_URL"),
        *("COLLECTOR_URL", "COLLECTOR_LIVE_URL"),
    )
    @classmethod
    def _address(cls, value: str) -> str:
        parts = split(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError(f"{value!r} must be an address such as https://host.example")
        return value.rstrip("/")

    @property
    def home(self) -> Path:
        """Return the folder for everything Collector keeps outside its databases."""
        return Path(self.COLLECTOR_HOME).resolve()

    @property
    def collector_url(self) -> str:
        """Return where browsers reach Collector."""
        return self.COLLECTOR_URL or f"http://localhost:{self.PORT}"

    @property
    def marketplace_url(self) -> str:
        """Return where workers reach the marketplace's site."""
        return self.MARKETPLACE_URL or f"http://127.0.0.1:{self.PORT}"

    @property
    def embedded(self) -> bool:
        """Return whether the marketplace is served from this very process."""
        return not self.MTURK_ENDPOINT_URL

    def databases(self) -> dict[str, dict[str, Any]]:
        """Return Django's DATABASES: Collector's, and the marketplace's when embedded."""
        own = self.DATABASE_URL or f"sqlite:///{self.home / 'collector.sqlite3'}"
        found = {"default": database(own)}
        if self.embedded:
            island = self.MARKETPLACE_DATABASE_URL or (
                f"sqlite:///{self.home / 'marketplace.sqlite3'}"
            )
            found["marketplace"] = database(island)
        return found


def read(environ: Mapping[str, str]) -> Environment:
    """Return the settings found in `environ`; empty variables count as not set.

    Raises WrongEnvironment naming every wrong variable at once, where both sites would be one, and
    where the home is served on a database that is not named.
    """
    found = read_environment(Environment, environ)
    if not found.DATABASE_URL:
        check_file_serves(found.home, "DATABASE_URL")
    # A command typed beside a running site means that site, on whatever port it is.
    port = None if "PORT" in given(Environment, environ) else served_port(found.home)
    found = found.model_copy(update={"PORT": port}) if port else found
    if found.COLLECTOR_URL and origin(found.COLLECTOR_URL) == origin(found.marketplace_url):
        raise WrongEnvironment(ONE_SITE.format(found.COLLECTOR_URL))
    return found


def origin(address: str) -> tuple[str, str, int]:
    """Return what browsers tell sites apart by: scheme, host and port."""
    parts = urlsplit(address)
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    return parts.scheme, (parts.hostname or "").lower(), port
