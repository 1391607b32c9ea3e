"""Verifies a request's Signature Version 4 with botocore's own signer."""

import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest

from marketplace import clock
from marketplace.models import AccessKey, Requester
from marketplace.wire.errors import WireError

ALLOWED_SKEW = timedelta(minutes=5)
SERVICE = "mturk-requester"
MUST_BE_SIGNED = {"host", "x-amz-date", "x-amz-target"}
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256\s+Credential=(?P<key>[^/,\s]+)/(?P<day>\d{8})/(?P<region>[^/,\s]+)"
    r"/(?P<service>[^/,\s]+)/aws4_request\s*,\s*SignedHeaders=(?P<headers>[^,\s]+)\s*,"
    r"\s*Signature=(?P<signature>[0-9a-f]{64})\s*"
)


def authenticate(request: HttpRequest, body: bytes) -> Requester:
    """Return the requester whose key signed this request.

    Raises WireError: `MissingAuthenticationTokenException`, `IncompleteSignatureException`,
    `UnrecognizedClientException` (no such key) or `InvalidSignatureException` (wrong or stale).
    """
    header = request.headers.get("Authorization", "")
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
    signed = match["headers"].split(";")
    _check_scope(match, set(signed))
    _check_freshness(request.headers.get("X-Amz-Date", ""), match["day"])
    key = (
        AccessKey.objects.select_related("requester")
        .filter(access_key_id=match["key"], revoked_at=None)
        .first()
    )
    if key is None:
        raise WireError(
            "UnrecognizedClientException",
            "No such access key on this marketplace, or it was revoked.",
        )
    expected = signature_of(request, body, signed, match["region"], key)
    if not hmac.compare_digest(expected, match["signature"]):
        raise WireError(
            "InvalidSignatureException",
            "The signature does not match this request and key; check the secret access key.",
        )
    return key.requester


def signature_of(
    request: HttpRequest, body: bytes, signed: list[str], region: str, key: AccessKey
) -> str:
    """Return the hex signature that `key` gives this request over the `signed` header names."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    headers = {name: request.headers.get(name, "") for name in signed}
    _check_payload(headers, body)
    signer = SigV4Auth(Credentials(key.access_key_id, key.secret_access_key), SERVICE, region)
    copy = AWSRequest(
        method=request.method, url=request.build_absolute_uri(), data=body, headers=headers
    )
    copy.context["timestamp"] = request.headers["X-Amz-Date"]
    return str(signer.signature(signer.string_to_sign(copy, signer.canonical_request(copy)), copy))


def _check_scope(match: re.Match[str], signed: set[str]) -> None:
    if match["service"] != SERVICE:
        raise WireError(
            "InvalidSignatureException", f"Sign for the service {SERVICE}, not {match['service']}."
        )
    if missing := MUST_BE_SIGNED - signed:
        raise WireError(
            "IncompleteSignatureException", f"Sign these headers too: {', '.join(sorted(missing))}."
        )


def _check_freshness(stamp: str, day: str) -> None:
    try:
        signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise WireError(
            "IncompleteSignatureException", "X-Amz-Date is not of the form 20261120T093000Z."
        ) from None
    now = clock.wall()
    if not stamp.startswith(day) or abs(now - signed_at) > ALLOWED_SKEW:
        raise WireError(
            "InvalidSignatureException",
            f"Signature expired: signed at {stamp}, received at {now:%Y%m%dT%H%M%SZ}; "
            "set the clock of your machine.",
        )


def _check_payload(headers: dict[str, str], body: bytes) -> None:
    # canonical_request would believe this header, so it has to be true first.
    claimed = headers.get("x-amz-content-sha256")
    if claimed is not None and claimed != hashlib.sha256(body).hexdigest():
        raise WireError("InvalidSignatureException", "X-Amz-Content-SHA256 is not the body's.")
