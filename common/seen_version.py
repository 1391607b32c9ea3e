"""Refuses a form whose page is out of date: what it showed has changed since."""

import hashlib
import json
from collections.abc import Mapping

from common.actions import ActionError

FIELD = "seen"


class OutOfDateError(ActionError):
    """The page was shown before the last change; nothing was saved."""


def version_of(*shown: object) -> str:
    """Return the version of what a form shows or decides on: equal values have one version."""
    text = json.dumps(shown, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def check_seen(sent: Mapping[str, str], version: str) -> None:
    """Raise OutOfDateError unless the form was shown at this version.

    sent: the form, which carries the version it was shown at in its hidden field `seen`.
    """
    if sent.get(FIELD, "") != version:
        raise OutOfDateError(
            "This has changed since the page was shown: by somebody else, or by the same form "
            "sent twice. Nothing was saved now. Look at what stands here, then send it again."
        )
