"""Signature Version 4 of one request, computed directly; pure, and equal to botocore's."""

import hashlib
import hmac
from functools import lru_cache

ALGORITHM = "AWS4-HMAC-SHA256"


def canonical_request(
    method: str, path: str, query: str, headers: list[tuple[str, str]], body: bytes
) -> str:
    """Return the canonical form of a request; `headers` are the signed ones, names in lower case.

    `path` is canonical already; values lose their superfluous spaces here.
    """
    headers = sorted(headers)
    lines = [f"{name}:{' '.join(value.split())}\n" for name, value in headers]
    names = ";".join(name for name, _ in headers)
    digest = hashlib.sha256(body).hexdigest()
    return f"{method}\n{path}\n{_canonical_query(query)}\n{''.join(lines)}\n{names}\n{digest}"


def _canonical_query(query: str) -> str:
    if not query:
        return ""
    pairs = sorted(part.partition("=")[::2] for part in query.split("&"))
    return "&".join(f"{key}={value}" for key, value in pairs)


def signature(secret: str, stamp: str, region: str, service: str, canonical: str) -> str:
    """Return the hex signature of a canonical request made at `stamp` (20261120T093000Z)."""
    day = stamp[:8]
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    message = f"{ALGORITHM}\n{stamp}\n{day}/{region}/{service}/aws4_request\n{digest}"
    return hmac.digest(_signing_key(secret, day, region, service), message.encode(), "sha256").hex()


@lru_cache(maxsize=4096)
def _signing_key(secret: str, day: str, region: str, service: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
