"""The settings of tests: a home of their own, where no site is served and nobody's keys are."""

import os
from tempfile import TemporaryDirectory

# It is removed when this process ends; those that it starts have the same.
_home = TemporaryDirectory(prefix="collector-tests-")
os.environ["COLLECTOR_HOME"] = os.environ.get("COLLECTOR_HOME") or _home.name
# What tests start has the settings of the product.
os.environ["DJANGO_SETTINGS_MODULE"] = "collector.settings"

from collector.settings import *  # noqa: E402, F403

# An outage that one test makes would be over amid another one, and be said there.
LOGGING["handlers"]["console"]["filters"].remove("outages")  # noqa: F405
