"""Verifies a request's Signature Version 4, and that the same bytes are not carried out twice."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.http import HttpRequest

from common.prepared_sql import PreparedQuery, execute, fields_of, instance_of
from marketplace import clock
from marketplace.models import AccessKey, Requester, SeenRequest
from marketplace.router import DATABASE
from marketplace.wire.calls import WireError

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


class Verifier(SigV4Auth):
    """botocore's signer, which here signs the headers that a client says it has signed."""

    def headers_to_sign(self, request: AWSRequest) -> Any:
        """Return all headers of the request: it was made of the signed ones."""
        return request.headers


def authenticate(request: HttpRequest, body: bytes, service: str = SERVICE) -> SignedRequest:
    """Return the requester whose key signed this request, for this service.

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
    if match["service"] != service:
        raise WireError(
            "InvalidSignatureException", f"Sign for the service {service}, not {match['service']}."
        )
    names = match["headers"].lower().split(";")
    # What names the operation: of topics that is the body, which is signed always.
    target = {"x-amz-target"} if "X-Amz-Target" in request.headers else set()
    if missing := (MUST_BE_SIGNED | target) - set(names):
        raise WireError(
            "IncompleteSignatureException", f"Sign these headers too: {', '.join(sorted(missing))}."
        )
    stamp = request.headers.get("X-Amz-Date", "")
    try:
        signed_at = datetime.fromisoformat(stamp) if STAMP.fullmatch(stamp) else None
    except ValueError:
        signed_at = None
    if signed_at is None:
        raise WireError(
            "IncompleteSignatureException", "X-Amz-Date is not of the form 20261120T093000Z."
        )
    now = clock.real_now()
    if not stamp.startswith(match["day"]) or abs(now - signed_at) > ALLOWED_SKEW:
        raise WireError(
            "InvalidSignatureException",
            f"Signature expired: signed at {stamp}, received at {now:%Y%m%dT%H%M%SZ}; "
            "set the clock of your machine.",
        )
    row = LIVING_KEY.first(key=match["key"])
    if row is None:
        raise WireError(
            "UnrecognizedClientException",
            "No such access key on this marketplace, or it was revoked.",
        )
    secret, *fields = row
    claimed = request.headers.get("X-Amz-Content-SHA256")
    if claimed is not None and claimed != hashlib.sha256(body).hexdigest():
        raise WireError("InvalidSignatureException", "X-Amz-Content-SHA256 is not the body's.")
    signed = AWSRequest(
        request.method,
        # The host is among the headers; every service here is at the root.
        f"http://host/?{request.META.get('QUERY_STRING', '')}",
        {name: request.headers.get(name, "") for name in names},
        body,
    )
    signed.context["timestamp"] = stamp
    signer = Verifier(Credentials(match["key"], secret), service, match["region"])
    text = signer.string_to_sign(signed, signer.canonical_request(signed))
    if not hmac.compare_digest(signer.signature(text, signed), match["signature"]):
        raise WireError(
            "InvalidSignatureException",
            "The signature does not match this request and key; check the secret access key.",
        )
    call = request.headers.get("Amz-Sdk-Invocation-Id", "")
    told = f"{header}\n{call}\n{request.headers.get('Amz-Sdk-Request', '')}"
    attempt = hashlib.sha256(told.encode()).hexdigest() if call else ""
    return SignedRequest(instance_of(Requester, REQUESTER_FIELDS, fields), attempt)


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
