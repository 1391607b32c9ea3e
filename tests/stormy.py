"""The settings of a hurried instance in hostile weather, heard of by a listener on this machine."""

from tests.hurried import *  # noqa: F403

MARKETPLACE_PRIVATE_WEBHOOKS = True
# The jobs look as often as before; a crowd waits longer for what the weather holds up.
LOOK_SECONDS = 0.75
