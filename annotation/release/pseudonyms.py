"""Names for workers that are stable inside one collection and unlinkable across collections."""

import hashlib
import hmac
from functools import lru_cache


@lru_cache(maxsize=65536)
def pseudonym(key: str, worker_id: str) -> str:
    """Return the worker's name in releases: HMAC-SHA256 under the collection's `key`, 20 digits."""
    digest = hmac.new(key.encode(), worker_id.encode(), hashlib.sha256).hexdigest()
    return f"worker_{digest[:20]}"
