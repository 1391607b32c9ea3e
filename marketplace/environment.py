"""The environment variables of a marketplace that is served alone."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from common.environment import (
    Currency,
    DatabaseAddress,
    LogFormat,
    MailSender,
    MailServerAddress,
    Secret,
)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Environment(BaseModel):
    """Every variable that is read; configuration.py has the defaults of those that are None."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    MARKETPLACE_DATABASE_URL: DatabaseAddress = ""
    MARKETPLACE_DATA_DIR: str = ""
    MARKETPLACE_SECRET_KEY: str = ""
    MARKETPLACE_BASE_URL: str = ""
    MARKETPLACE_HOSTS: str = ""
    MARKETPLACE_BEHIND_TLS_PROXY: bool = False
    MARKETPLACE_CLIENT_ADDRESS_HEADER: str | None = None
    MARKETPLACE_DEBUG: bool = False
    MARKETPLACE_HASHED_STATIC: bool = False
    MARKETPLACE_OPEN_SIGN_IN: bool | None = None
    MARKETPLACE_OPEN_DESK: bool | None = None
    MARKETPLACE_MAIL_FROM: MailSender = ""
    MARKETPLACE_SMTP_URL: MailServerAddress = ""
    MARKETPLACE_CALLS_PER_SECOND: float = Field(0, ge=0)
    MARKETPLACE_DELIVER_EVENTS: bool = True
    MARKETPLACE_PRIVATE_WEBHOOKS: bool | None = None
    MARKETPLACE_LOG_FORMAT: LogFormat = "text"
    MARKETPLACE_METRICS_TOKEN: Secret = ""
    MARKETPLACE_PAYMENT_TERMS: str = ""
    MARKETPLACE_CURRENCY_SYMBOL: str | None = None
    MARKETPLACE_CURRENCY: Currency = ""
    MARKETPLACE_AUTO_APPROVAL_CAP: int | None = Field(None, ge=0)
    MARKETPLACE_QUEUE_LIMIT: int | None = Field(None, ge=0)
    MARKETPLACE_DEFAULT_BALANCE_CENTS: int | None = Field(None, ge=0)
    MARKETPLACE_SESSION_DAYS: int | None = Field(None, ge=0)

    def hosts(self) -> list[str]:
        """Return the names it is reached by; this machine's own where none is given."""
        given = [host.strip() for host in self.MARKETPLACE_HOSTS.split(",") if host.strip()]
        return given or list(LOOPBACK)

    def is_local(self) -> bool:
        """Return whether it is reached from this machine alone."""
        return set(self.hosts()) <= set(LOOPBACK)

    def folder(self, base: Path) -> Path:
        """Return where its data are kept, `base`/var unless another folder is named."""
        return Path(self.MARKETPLACE_DATA_DIR or base / "var")
