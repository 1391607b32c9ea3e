"""The settings of a rehearsal's home: nobody else waits there, and nothing is there to migrate."""

from collector.settings import *  # noqa: F403
from collector.settings import CELERY_BEAT_SCHEDULE, INSTALLED_APPS

# Simulated workers wait for the jobs after every step.
POLL_SECONDS = 0.5
CELERY_BEAT_SCHEDULE["due"]["schedule"] = POLL_SECONDS
# The tables are made as the models have them.
MIGRATION_MODULES = {name.rpartition(".")[2]: None for name in INSTALLED_APPS}
