"""The settings of an instance whose jobs look four times a second, so that a test waits less."""

from collector.settings import *  # noqa: F403
from collector.settings import CELERY_BEAT_SCHEDULE

POLL_SECONDS = 0.25
for _job in CELERY_BEAT_SCHEDULE.values():
    _job["schedule"] = POLL_SECONDS
