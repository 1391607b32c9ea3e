"""Settings to serve the marketplace alone; every choice is an environment variable."""

import os
import sys
from pathlib import Path
from typing import Any

from common import site_files
from common.environment import (
    WrongEnvironment,
    check_file_serves,
    database,
    key_in,
    mail_server,
    read_environment,
)
from common.metric_files import count_together
from common.outages import logging_settings
from common.safe_files import private_databases, private_folder
from marketplace.environment import Environment

BASE_DIR = Path(__file__).resolve().parent.parent
try:
    ENVIRONMENT = read_environment(Environment, os.environ)
except WrongEnvironment as wrong:
    sys.exit(str(wrong))
# What is given; configuration.py has the value of all else.
globals().update(ENVIRONMENT.model_dump(exclude_unset=True))

DATA_DIR = ENVIRONMENT.folder(BASE_DIR)
private_folder(DATA_DIR, "marketplace-secret-key")

ALLOWED_HOSTS = ENVIRONMENT.hosts()


def _unless_given(chosen: bool | None, otherwise: bool) -> bool:
    return otherwise if chosen is None else chosen


MARKETPLACE_OPEN_SIGN_IN = _unless_given(
    ENVIRONMENT.MARKETPLACE_OPEN_SIGN_IN, ENVIRONMENT.is_local()
)
# A laptop's own visitor is the host; on a network the desk asks for name and password.
MARKETPLACE_OPEN_DESK = _unless_given(ENVIRONMENT.MARKETPLACE_OPEN_DESK, ENVIRONMENT.is_local())
# So may a laptop's own programs hear of their HITs.
MARKETPLACE_PRIVATE_WEBHOOKS = _unless_given(
    ENVIRONMENT.MARKETPLACE_PRIVATE_WEBHOOKS, ENVIRONMENT.is_local()
)
# Mail goes out when a sender and a server are named.
globals().update(mail_server(ENVIRONMENT.MARKETPLACE_SMTP_URL))

FILE_UPLOAD_HANDLERS = site_files.HANDLERS
# A file of 10 MB that was looked at first comes back as a field; and tasks may ask for much.
DATA_UPLOAD_MAX_MEMORY_SIZE = 11_000_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
# Such a file, and the rest of its form.
LONGEST_BODY_BYTES = 12_000_000

try:
    if not ENVIRONMENT.MARKETPLACE_DATABASE_URL:
        check_file_serves(DATA_DIR, "MARKETPLACE_DATABASE_URL")
    SECRET_KEY = ENVIRONMENT.MARKETPLACE_SECRET_KEY or key_in(DATA_DIR / "marketplace-secret-key")
except WrongEnvironment as wrong:
    sys.exit(str(wrong))
DEBUG = ENVIRONMENT.MARKETPLACE_DEBUG
# Cookies know no ports: another site on this host may have one of the usual name.
CSRF_COOKIE_NAME = "marketplace_csrf"
CSRF_COOKIE_HTTPONLY = True
if ENVIRONMENT.MARKETPLACE_BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    CSRF_COOKIE_SECURE = True
    globals().setdefault("MARKETPLACE_CLIENT_ADDRESS_HEADER", "X-Forwarded-For")

# Everything lives on the alias "marketplace", as it does inside a larger project.
DATABASES: dict[str, dict[str, Any]] = {
    "default": {},
    "marketplace": database(
        ENVIRONMENT.MARKETPLACE_DATABASE_URL or f"sqlite:///{DATA_DIR / 'marketplace.sqlite3'}"
    ),
}
DATABASES["marketplace"].setdefault("TEST", {})["DEPENDENCIES"] = []
private_databases(DATABASES)
DATABASE_ROUTERS = ["marketplace.router.MarketplaceRouter"]

INSTALLED_APPS = ["django.contrib.staticfiles", "common", "marketplace"]
MIDDLEWARE = [
    "common.metrics.RequestTimes",
    "common.trace.RequestTrace",
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
WHITENOISE_USE_FINDERS = not ENVIRONMENT.MARKETPLACE_HASHED_STATIC
if ENVIRONMENT.MARKETPLACE_HASHED_STATIC:
    STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "common.site_files.HashedStatic"},
    }
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
if ENVIRONMENT.MARKETPLACE_METRICS_TOKEN:
    count_together(DATA_DIR / "metrics")
LOG_FORMAT = ENVIRONMENT.MARKETPLACE_LOG_FORMAT
LOGGING = logging_settings(str(DATA_DIR), log_format=LOG_FORMAT)
