"""Collector's Django settings; the upper apps and the marketplace are named as strings only."""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from collector.environment import read
from common import site_files
from common.environment import WrongEnvironment, key_in, mail_server
from common.metric_files import count_together
from common.outages import logging_settings
from common.safe_files import private_databases, private_folder

BASE_DIR = Path(__file__).resolve().parent.parent
try:
    ENVIRONMENT = read(os.environ)
except WrongEnvironment as wrong:
    sys.exit(str(wrong))
RELEASES = BASE_DIR / "releases"
EMBEDDED = ENVIRONMENT.embedded
HOME = ENVIRONMENT.home
# What `rank_passages --keep` keeps for releases.
RANKINGS = HOME / "rankings"
private_folder(HOME, "secret_key")

try:
    SECRET_KEY = ENVIRONMENT.COLLECTOR_SECRET_KEY or key_in(HOME / "secret_key")
except WrongEnvironment as wrong:
    sys.exit(str(wrong))
DEBUG = False

PORT = ENVIRONMENT.PORT
COLLECTOR_URL = ENVIRONMENT.collector_url
# The same host, where a front server passes /hit/socket on; a port of its own without one.
SOCKET_URL = (ENVIRONMENT.COLLECTOR_LIVE_URL or COLLECTOR_URL).replace("http", "ws", 1)
SOCKET_URL += "/hit/socket"
MARKETPLACE_URL = ENVIRONMENT.marketplace_url
# Where there is a marketplace of ours, it has an administration to lead to.
MARKETPLACE_DESK = EMBEDDED or bool(ENVIRONMENT.MARKETPLACE_URL)
MTURK_ENDPOINT_URL = ENVIRONMENT.MTURK_ENDPOINT_URL or MARKETPLACE_URL
MTURK_CONNECT_URL = ENVIRONMENT.MTURK_CONNECT_URL
MTURK_KEYS_FILE = Path(ENVIRONMENT.MTURK_KEYS_FILE or HOME / "requester.json")
# Where a finished HIT may be handed back to, and who may frame a worker's page.
CROWD_HISTORY = ENVIRONMENT.CROWD_HISTORY
SUBMIT_ORIGINS = [MARKETPLACE_URL]

COLLECTOR_HOST = urlsplit(COLLECTOR_URL).hostname or "localhost"
MARKETPLACE_HOST = urlsplit(MARKETPLACE_URL).hostname or "127.0.0.1"
HOST_URLCONFS = {COLLECTOR_HOST: "collector.urls"}
if EMBEDDED:
    HOST_URLCONFS[MARKETPLACE_HOST] = "marketplace.urls"
ALLOWED_HOSTS = list(HOST_URLCONFS)
ROOT_URLCONF = "collector.urls"
# Whose pages need no session, no account and no cookie.
WORKER_URLS = "tasks.pages.urls"
# On a laptop the requester's pages open without a password, on localhost alone.
PASSWORDLESS_SIGN_IN = EMBEDDED and COLLECTOR_HOST == "localhost"
MARKETPLACE_OPEN_SIGN_IN = PASSWORDLESS_SIGN_IN
MARKETPLACE_OPEN_DESK = PASSWORDLESS_SIGN_IN
MARKETPLACE_PRIVATE_WEBHOOKS = PASSWORDLESS_SIGN_IN
MARKETPLACE_BASE_URL = MARKETPLACE_URL

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "common",
    "collector",
    "tasks",
    "annotation",
]
if EMBEDDED:
    INSTALLED_APPS.append("marketplace")
    MARKETPLACE_PAYMENT_TERMS = ENVIRONMENT.MARKETPLACE_PAYMENT_TERMS
    MARKETPLACE_CURRENCY_SYMBOL = ENVIRONMENT.MARKETPLACE_CURRENCY_SYMBOL
    MARKETPLACE_CURRENCY = ENVIRONMENT.MARKETPLACE_CURRENCY
    MARKETPLACE_MAIL_FROM = ENVIRONMENT.MARKETPLACE_MAIL_FROM
    globals().update(mail_server(ENVIRONMENT.MARKETPLACE_SMTP_URL))
    # As it has it when it is served alone, for long answers.
    DATA_UPLOAD_MAX_MEMORY_SIZE = 11_000_000

# A folder of documents is sent at once, each with its path.
DATA_UPLOAD_MAX_NUMBER_FILES = DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
# The longest that a request may bring: predictions for a report, as a file.
LONGEST_BODY_BYTES = 101_000_000
MIDDLEWARE = [
    "common.metrics.RequestTimes",
    "common.trace.RequestTrace",
    "collector.serving.middleware.HostMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "collector.serving.middleware.PolicyMiddleware",
    # What is above is for every page; what is below, for those that somebody signs in to.
    "collector.serving.middleware.WorkerPagesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "annotation.dashboard.middleware.WakingMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

FILE_UPLOAD_HANDLERS = site_files.HANDLERS
DATABASES = ENVIRONMENT.databases()
private_databases(DATABASES)
DATABASE_ROUTERS = ["marketplace.router.MarketplaceRouter"] if EMBEDDED else []
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "collector.User"
LOGIN_URL = "sign_in"
SESSION_COOKIE_NAME = "collector_session"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = COLLECTOR_URL.startswith("https:")
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [COLLECTOR_URL, MARKETPLACE_URL]
if COLLECTOR_URL.startswith("https:"):
    # TLS ends at the front server, which must set this header itself.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Whose last entry is a visitor's address; without a front server anybody could write it.
CLIENT_ADDRESS_HEADER = "X-Forwarded-For" if ENVIRONMENT.COLLECTOR_BEHIND_TLS_PROXY else ""

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = HOME / "static"
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = not ENVIRONMENT.COLLECTOR_HASHED_STATIC
if ENVIRONMENT.COLLECTOR_HASHED_STATIC:
    STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "common.site_files.HashedStatic"},
    }
WHITENOISE_AUTOREFRESH = False

PROTOCOL_FOLDERS = [
    BASE_DIR / "annotation" / "protocols",
    *(Path(folder) for folder in ENVIRONMENT.COLLECTOR_PROTOCOLS.split(":") if folder),
]

# Carries "look now" between processes, without it there is one: rows are the truth.
REDIS_URL = ENVIRONMENT.REDIS_URL
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "collector.serving.fallback_cache.FallbackCache",
            "LOCATION": ENVIRONMENT.REDIS_URL,
        }
    }

CELERY_BROKER_URL = ENVIRONMENT.CELERY_BROKER_URL or ENVIRONMENT.REDIS_URL or "memory://localhost/"
# A Redis that is stopped takes what it is told and never answers; who sends a job and cannot, knows
# what to do instead.
REDIS_OPTIONS = {
    "socket_timeout": 3.0,
    "socket_connect_timeout": 3.0,
    "max_retries": 0,
    # A worker waits for its next job a second at a time. A connection of which the other end is
    # gone without a word is made again once the answer is late by one to two of these: five
    # seconds in all, where Kombu's own 25 would be 51.
    "health_check_interval": 2.0,
}
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, float] = {
    "redis": REDIS_OPTIONS,
    "rediss": REDIS_OPTIONS,
}.get(CELERY_BROKER_URL.partition(":")[0], {})
CELERY_TASK_IGNORE_RESULT = True
# A job that is lost is due again at the next look, since rows say what is to do. One that the queue
# was still to be told of when it went away would end its whole worker: none is taken up before
# there is a process for it, and none is kept in mind afterwards.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_DISABLE_PREFETCH = CELERY_BROKER_URL.startswith(("redis:", "rediss:"))
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# However long an outage, a worker waits for its end.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CONSUMER = "collector.serving.job_queue:LoneConsumer"
# How often the jobs ask what is due: one query, however many collections there are.
POLL_SECONDS = 2.0
# A message that nobody has taken up for so long is dropped: those after it ask the same. By the
# clock of the process that takes it up, which may be another machine's and ahead.
MESSAGE_SECONDS = 60.0
# Somebody waits for a partner, or for one who may have left; a queue of their own lets a worker
# look after them while others wait for a marketplace.
DIALOG_POLL_SECONDS = 0.8
CELERY_TASK_ROUTES = {"tasks.jobs.look_after_dialogs": {"queue": "dialogs"}}
CELERY_BEAT_SCHEDULER = "collector.serving.health:Clock"
CELERY_BEAT_SCHEDULE = {
    name: {"task": task, "schedule": seconds, "options": {"expires": MESSAGE_SECONDS}}
    for name, task, seconds in (
        ("due", "annotation.jobs.look_after_what_is_due", POLL_SECONDS),
        ("dialogs", "tasks.jobs.look_after_dialogs", DIALOG_POLL_SECONDS),
    )
}
# What tells whether a job has work: where it has none, it is hardly ever sent.
JOB_HAS_WORK = {
    "due": "annotation.jobs.has_due_work",
    "dialogs": "tasks.jobs.has_open_dialogs",
}

# Who may read them; without a token nothing is counted. Where there is more than one process, all
# of them count together.
COLLECTOR_METRICS_TOKEN = ENVIRONMENT.COLLECTOR_METRICS_TOKEN
COLLECTOR_ROW_METRICS = ("tasks.row_metrics.METRICS", "annotation.row_metrics.METRICS")
# What `doctor` looks at.
CHECKUPS = ["tasks.lifecycle.checkup.CHECKS", "annotation.checkup.CHECKS"]
if EMBEDDED:
    CHECKUPS.append("marketplace.checkup.CHECKS")
    MARKETPLACE_METRICS_TOKEN = COLLECTOR_METRICS_TOKEN
elif COLLECTOR_METRICS_TOKEN:
    count_together(HOME / "metrics")
LOG_FORMAT = ENVIRONMENT.COLLECTOR_LOG_FORMAT
LOGGING = logging_settings(
    str(HOME), ENVIRONMENT.REDIS_URL, MTURK_CONNECT_URL or MTURK_ENDPOINT_URL, LOG_FORMAT
)
