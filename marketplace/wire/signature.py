"""Verifies a request's Signature Version 4, and that the same bytes are not carried out twice."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from django.http import HttpRequest

from common.prepared_sql import PreparedQuery, execute, fields_of, instance_of
from marketplace import clock
from marketplace.models import AccessKey, Requester, SeenRequest
from marketplace.router import DATABASE
from marketplace.wire.errors import WireError

ALLOWED_SKEW = timedelta(minutes=5)
SERVICE = "mturk-requester"
MUST_BE_SIGNED = {"host", "x-amz-date"}
STAMP = re.compile(r"\d{8}T\d{6}Z", re.ASCII)
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256\s+Credential=(?P<key>[^/,\s]+)/(?P<day>\d{8})/(?P<region>[^/,\s]+)"
    r"/(?P<service>[^/,\s]+)/aws4_request\s*,\s*SignedHeaders=(?P<headers>[^,\s]+)\s*,"
    r"\s*Signature=(?P<signature>[0-9a-f]{64})\s*"
)
REQUESTER_FIELDS = fields_of(Requester)
LIVING_KEY = PreparedQuery(
    lambda key: AccessKey.objects.filter(access_key_id=key, revoked_at=None).values_list(
        "secret_access_key", *fields_of(Requester, "requester__")
    ),
    key=str,
)
ALGORITHM = "AWS4-HMAC-SHA256"
# Twice what a signature is good for, either way.
REMEMBERED = timedelta(minutes=20)
SEEN = (
    f"INSERT INTO {SeenRequest._meta.db_table} (attempt, seen_at) VALUES (%s, %s) "
    "ON CONFLICT DO NOTHING RETURNING id"
)


@dataclass(frozen=True)
class SignedRequest:
    """Who signed a request; `attempt` names this one attempt of one call, "" if nothing does.

    The signature alone does not: calls that are alike in one second have the same.
    """

    requester: Requester
    attempt: str


def authenticate(request: HttpRequest, body: bytes, service: str = SERVICE) -> SignedRequest:
    """Return the requester whose key signed this request, for this service.

    Raises WireError: `MissingAuthenticationTokenException`, `IncompleteSignatureException`,
    `UnrecognizedClientException` (no such key) or `InvalidSignatureException` (wrong or stale).
    """
    header = request.META.get("HTTP_AUTHORIZATION", "")
    if not header:
        raise WireError(
            "MissingAuthenticationTokenException",
            "Sign the request with an access key of this marketplace (Signature Version 4).",
        )
    match = AUTHORIZATION.fullmatch(header)
    if match is None:
        raise WireError(
            "IncompleteSignatureException", "The Authorization header is not a complete signature."
        )
    names = match["headers"].lower().split(";")
    # What names the operation: of topics that is the body, which is signed always.
    target = {"x-amz-target"} if "HTTP_X_AMZ_TARGET" in request.META else set()
    _check_scope(match, service, (MUST_BE_SIGNED | target) - set(names))
    stamp = request.META.get("HTTP_X_AMZ_DATE", "")
    _check_freshness(stamp, match["day"])
    row = LIVING_KEY.first(key=match["key"])
    if row is None:
        raise WireError(
            "UnrecognizedClientException",
            "No such access key on this marketplace, or it was revoked.",
        )
    secret, *fields = row
    canonical = _canonical(request, names, body)
    expected = signature(secret, stamp, match["region"], service, canonical)
    if not hmac.compare_digest(expected, match["signature"]):
        raise WireError(
            "InvalidSignatureException",
            "The signature does not match this request and key; check the secret access key.",
        )
    return SignedRequest(
        instance_of(Requester, REQUESTER_FIELDS, fields), _attempt(request, header)
    )


def _attempt(request: HttpRequest, authorization: str) -> str:
    call = request.META.get("HTTP_AMZ_SDK_INVOCATION_ID", "")
    if not call:
        return ""
    text = f"{authorization}\n{call}\n{request.META.get('HTTP_AMZ_SDK_REQUEST', '')}"
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(request: HttpRequest, names: list[str], body: bytes) -> str:
    headers = [(name, request.META.get(_meta_name(name), "")) for name in names]
    claimed = request.META.get("HTTP_X_AMZ_CONTENT_SHA256")
    if claimed is not None and claimed != hashlib.sha256(body).hexdigest():
        raise WireError("InvalidSignatureException", "X-Amz-Content-SHA256 is not the body's.")
    query = request.META.get("QUERY_STRING", "")
    return canonical_request(str(request.method), "/", query, headers, body)


@lru_cache(maxsize=256)
def _meta_name(name: str) -> str:
    upper = name.upper().replace("-", "_")
    return upper if upper in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{upper}"


def _check_scope(match: re.Match[str], service: str, missing: set[str]) -> None:
    if match["service"] != service:
        raise WireError(
            "InvalidSignatureException", f"Sign for the service {service}, not {match['service']}."
        )
    if missing:
        raise WireError(
            "IncompleteSignatureException", f"Sign these headers too: {', '.join(sorted(missing))}."
        )


def _check_freshness(stamp: str, day: str) -> None:
    try:
        if STAMP.fullmatch(stamp) is None:
            raise ValueError(stamp)
        signed_at = datetime.fromisoformat(stamp)
    except ValueError:
        raise WireError(
            "IncompleteSignatureException", "X-Amz-Date is not of the form 20261120T093000Z."
        ) from None
    now = clock.real_now()
    if not stamp.startswith(day) or abs(now - signed_at) > ALLOWED_SKEW:
        raise WireError(
            "InvalidSignatureException",
            f"Signature expired: signed at {stamp}, received at {now:%Y%m%dT%H%M%SZ}; "
            "set the clock of your machine.",
        )


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


def refuse_replay(attempt: str, now: datetime) -> None:
    """Remember an attempt of a change; raises `InvalidSignatureException` when it was seen.

    Clients number their attempts outside the signature, so this stops who sends again what they
    heard, not who changes the number; that needs TLS in front. One that nothing names passes.
    """
    if not attempt:
        return
    if not execute(SEEN, [attempt, now], DATABASE):
        raise WireError(
            "InvalidSignatureException",
            "This very request was carried out before; sign each request anew.",
        )
    # Now and then is enough; what is old is refused for its age.
    if attempt.startswith("000"):
        SeenRequest.objects.filter(seen_at__lt=now - REMEMBERED).delete()
