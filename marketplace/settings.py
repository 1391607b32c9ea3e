"""Settings to serve the marketplace alone; every choice is an environment variable."""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from common.outages import logging_settings
from common.private_files import private_databases, private_folder

BASE_DIR = Path(__file__).resolve().parent.parent
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def flag(name: str, default: bool) -> bool:
    """Return a yes-or-no variable; raises ImproperlyConfigured on anything else."""
    value = os.environ.get(name, "").strip().lower()
    if value in ("", "1", "true", "yes", "0", "false", "no"):
        return default if value == "" else value in ("1", "true", "yes")
    raise ImproperlyConfigured(f"{name}={value!r}: write yes or no.")


def database(url: str) -> dict[str, Any]:
    """Return Django's database settings for a `sqlite:///` or `postgres://` address."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        path = unquote(parts.path[1:]) or ":memory:"
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": path,
            "CONN_MAX_AGE": 60,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            },
            "TEST": {"NAME": f"{path}.test", "DEPENDENCIES": []},
        }
    if parts.scheme in ("postgres", "postgresql"):
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": 60,
            "TEST": {"DEPENDENCIES": []},
        }
    raise ImproperlyConfigured(
        f"MARKETPLACE_DATABASE_URL={url!r}: begin it with sqlite:/// or postgres://."
    )


def secret_key(beside: Path) -> str:
    """Return MARKETPLACE_SECRET_KEY, else one made once and kept beside the database (0600)."""
    if given := os.environ.get("MARKETPLACE_SECRET_KEY"):
        return given
    path = beside / "marketplace-secret-key"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
    except FileExistsError:
        pass
    return path.read_text()


DATA_DIR = Path(os.environ.get("MARKETPLACE_DATA_DIR", BASE_DIR / "var"))
private_folder(DATA_DIR, "marketplace-secret-key")

MARKETPLACE_BASE_URL = os.environ.get("MARKETPLACE_BASE_URL", "")
_hosts = os.environ.get("MARKETPLACE_HOSTS", "")
ALLOWED_HOSTS = [host.strip() for host in _hosts.split(",") if host.strip()] or list(LOOPBACK)
MARKETPLACE_OPEN_SIGN_IN = flag(
    "MARKETPLACE_OPEN_SIGN_IN", default=set(ALLOWED_HOSTS) <= set(LOOPBACK)
)

# A laptop's own visitor is the host; on a network the desk asks for name and password.
MARKETPLACE_OPEN_DESK = flag("MARKETPLACE_OPEN_DESK", default=set(ALLOWED_HOSTS) <= set(LOOPBACK))
# Mail goes out when a sender and a server are named.
MARKETPLACE_MAIL_FROM = os.environ.get("MARKETPLACE_MAIL_FROM", "")
_smtp = urlsplit(os.environ.get("MARKETPLACE_SMTP_URL") or "smtp://localhost:25")
SMTP_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
if _smtp.scheme not in SMTP_PORTS or not _smtp.hostname:
    raise ImproperlyConfigured(
        f"MARKETPLACE_SMTP_URL={_smtp.geturl()!r}: write smtp://, smtp+tls:// or smtps:// and then "
        "USER:PASSWORD@HOST:PORT."
    )
EMAIL_HOST, EMAIL_PORT = _smtp.hostname, _smtp.port or SMTP_PORTS[_smtp.scheme]
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_smtp.username or ""), unquote(_smtp.password or "")
EMAIL_USE_SSL = _smtp.scheme == "smtps"
EMAIL_USE_TLS = _smtp.scheme == "smtp+tls"
EMAIL_TIMEOUT = 20  # seconds

MARKETPLACE_CALLS_PER_SECOND = float(os.environ.get("MARKETPLACE_CALLS_PER_SECOND", "0"))
MARKETPLACE_DELIVER_EVENTS = flag("MARKETPLACE_DELIVER_EVENTS", default=True)
MARKETPLACE_PRIVATE_WEBHOOKS = flag("MARKETPLACE_PRIVATE_WEBHOOKS", default=False)
MARKETPLACE_PAYMENT_TERMS = os.environ.get("MARKETPLACE_PAYMENT_TERMS", "")
# Where these are not given, configuration.py has the value.
for _name in ("AUTO_APPROVAL_CAP", "QUEUE_LIMIT", "DEFAULT_BALANCE_CENTS", "SESSION_DAYS"):
    if _given := os.environ.get(f"MARKETPLACE_{_name}"):
        if not _given.isdecimal():
            raise ImproperlyConfigured(f"MARKETPLACE_{_name}={_given!r}: write a whole number.")
        globals()[f"MARKETPLACE_{_name}"] = int(_given)
for _name in ("CURRENCY_SYMBOL", "CLIENT_ADDRESS_HEADER"):
    if _given := os.environ.get(f"MARKETPLACE_{_name}"):
        globals()[f"MARKETPLACE_{_name}"] = _given

# A file of 10 MB that was looked at first comes back as a field; and tasks may ask for much.
DATA_UPLOAD_MAX_MEMORY_SIZE = 11_000_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
# Such a file, and the rest of its form.
LONGEST_BODY_BYTES = 12_000_000

SECRET_KEY = secret_key(DATA_DIR)
DEBUG = flag("MARKETPLACE_DEBUG", default=False)
# Cookies know no ports: another site on this host may have one of the usual name.
CSRF_COOKIE_NAME = "marketplace_csrf"
CSRF_COOKIE_HTTPONLY = True
if flag("MARKETPLACE_BEHIND_TLS_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    CSRF_COOKIE_SECURE = True
    globals().setdefault("MARKETPLACE_CLIENT_ADDRESS_HEADER", "X-Forwarded-For")

# Everything lives on the alias "marketplace", as it does inside a larger project.
DATABASES: dict[str, dict[str, Any]] = {
    "default": {},
    "marketplace": database(
        os.environ.get("MARKETPLACE_DATABASE_URL", f"sqlite:///{DATA_DIR / 'marketplace.sqlite3'}")
    ),
}
private_databases(DATABASES)
DATABASE_ROUTERS = ["marketplace.router.MarketplaceRouter"]

INSTALLED_APPS = ["django.contrib.staticfiles", "common", "marketplace"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]
ROOT_URLCONF = "marketplace.urls"
ASGI_APPLICATION = "marketplace.asgi.application"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
# `collectstatic` first; names change with what is in the files, so browsers keep them for good.
MARKETPLACE_HASHED_STATIC = flag("MARKETPLACE_HASHED_STATIC", default=False)
WHITENOISE_USE_FINDERS = not MARKETPLACE_HASHED_STATIC
if MARKETPLACE_HASHED_STATIC:
    STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "common.static_files.HashedStatic"},
    }
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LOGGING = logging_settings(str(DATA_DIR))
