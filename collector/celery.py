"""The Celery app: finds every room's `jobs.py`."""

import os
import warnings

from celery import Celery
from celery.exceptions import CPendingDeprecationWarning

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "collector.settings")
# It is about jobs that an outage of the broker cuts off: each of ours may run twice.
warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
app = Celery("collector")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")
