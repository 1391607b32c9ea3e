"""Makes the address that a worker's frame opens, signed so that the requester can believe it."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit, urlunsplit

PREVIEW_ASSIGNMENT_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
# A page opened in the last minute must still be able to say that the time is up.
GRACE_SECONDS = 3600


@dataclass(frozen=True)
class Entry:
    """Who enters which assignment, until when (epoch seconds), and where the form goes."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str
    expires: int


def entry_signature(secret: str, entry: Entry) -> str:
    """Return hex HMAC-SHA256 under the requester's entry secret.

    The message is assignment, HIT, worker and expiry, joined by line feeds.
    """
    message = "\n".join([entry.assignment_id, entry.hit_id, entry.worker_id, str(entry.expires)])
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def entry_url(external_url: str, secret: str, entry: Entry) -> str:
    """Return the address of the frame of an accepted assignment."""
    return _with_query(
        external_url,
        {
            "assignmentId": entry.assignment_id,
            "hitId": entry.hit_id,
            "workerId": entry.worker_id,
            "turkSubmitTo": entry.submit_to,
            "entryExpires": str(entry.expires),
            "entrySignature": entry_signature(secret, entry),
        },
    )


def preview_url(external_url: str, hit_id: str) -> str:
    """Return the address of the frame before accepting: no worker, nothing to submit to."""
    return _with_query(external_url, {"assignmentId": PREVIEW_ASSIGNMENT_ID, "hitId": hit_id})


def with_preferences(url: str, preferences: Mapping[str, str]) -> str:
    """Return the address with how the worker likes pages, where they have said so; not signed."""
    names = {"theme": "workerTheme", "text_size": "workerTextSize", "language": "workerLanguage"}
    chosen = {names[name]: value for name, value in preferences.items() if value}
    return _with_query(url, chosen) if chosen else url


def _with_query(url: str, added: dict[str, str]) -> str:
    parts = urlsplit(url)
    query = "&".join(filter(None, [parts.query, urlencode(added)]))
    return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", query, parts.fragment))
