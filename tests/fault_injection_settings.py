"""The settings of an instance with quick jobs and injected faults, heard by a local listener."""

from tests.fast_jobs_settings import *  # noqa: F403

# The jobs look as often as before; a crowd waits longer for what the faults hold up.
POLL_SECONDS = 0.75
