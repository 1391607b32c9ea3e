"""Posts one signed message to a requester's address, and to nowhere inside our own network."""

import hashlib
import hmac
import ipaddress
import socket
from datetime import UTC, datetime
from threading import Timer
from urllib.parse import SplitResult, urlsplit

from standardwebhooks import Webhook

from marketplace.configuration import private_webhooks

TIMEOUT_SECONDS = 10
FORMER_SIGNATURE = "X-Marketplace-Signature"
LONGEST_ADDRESS = 2000
# A network without IPv4 reaches IPv4 through these (RFC 6052).
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


class WebhookError(Exception):
    """The message was not taken; the message of this says why."""


def problem_with(address: str) -> str:
    """Return a sentence on an address that events cannot go to, empty when they can.

    Looks at the address alone; where its name leads is looked up at each delivery.
    """
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return "Destination is not a web address."
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or len(address) > LONGEST_ADDRESS
    ):
        return "Destination has to be the https:// address of your own listener, for SQS and SNS."
    if parts.username is not None or any(ord(letter) <= 32 for letter in address):
        return "Destination may hold neither a user name nor spaces."
    try:
        parts.hostname.encode("idna")
    except UnicodeError:
        return "Destination names a host that cannot be: look at the dots and its length."
    if private_webhooks():
        return ""
    if parts.scheme != "https":
        return "Destination has to begin with https://."
    try:
        is_public = _is_public(parts.hostname)
    except ValueError:
        is_public = parts.hostname.rstrip(".").lower() != "localhost"
    return "" if is_public else "Destination is not a public address."


def _is_public(number: str) -> bool:
    """Tell whether an address is everybody's; of one that carries another, the inner one counts.

    Raises ValueError for what is no number.
    """
    address = ipaddress.ip_address(number)
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in TRANSLATED:
            inner = ipaddress.IPv4Address(address.packed[-4:])
        if inner is not None:
            return inner.is_global
    return address.is_global


def signed_headers(secret: str, name: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of a message: its type, its name, the time and the signature.

    As Standard Webhooks has them; the key is the requester's entry secret (UTF-8). `name` is the
    same each time a message is sent.
    """
    at = now.astimezone(UTC)
    stamp = str(int(at.timestamp()))
    # The signature of the version before, for listeners that read it still.
    digest = hmac.digest(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hex()
    return {
        "Content-Type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": stamp,
        "webhook-signature": Webhook(secret.encode()).sign(name, at, body.decode()),
        FORMER_SIGNATURE: f"t={stamp},v1={digest}",
    }


def send(address: str, headers: dict[str, str], body: bytes) -> None:
    """Post a message; raises WebhookError unless the reply is 2xx. Redirects are not followed."""
    import httpx

    if problem := problem_with(address):
        raise WebhookError(problem)
    parts = urlsplit(address)
    target, extensions = _pinned(parts)
    headers = {**headers, "Host": parts.netloc}
    client = httpx.Client(trust_env=False, timeout=TIMEOUT_SECONDS)
    # The time out is of each read alone: a reply may come letter by letter for days.
    patience = Timer(2 * TIMEOUT_SECONDS, client.close)
    patience.daemon = True
    patience.start()
    try:
        with (
            client,
            client.stream(
                "POST", target, content=body, headers=headers, extensions=extensions
            ) as reply,
        ):
            status = reply.status_code
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        # A connection closed in the midst of a read is a ValueError where there is TLS.
        raise WebhookError(f"{type(error).__name__}: {error}") from None
    finally:
        patience.cancel()
    if not 200 <= status < 300:
        raise WebhookError(f"The listener answered {status}.")


def _pinned(parts: SplitResult) -> tuple[str, dict[str, str]]:
    """Return the address with its host looked up once, so that it cannot lead elsewhere later."""
    host = str(parts.hostname)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise WebhookError(f"The host of Destination is not known: {error}.") from None
    numbers = [str(one[4][0]) for one in found]
    if not private_webhooks() and not all(map(_is_public, numbers)):
        raise WebhookError("Destination leads to an address that is not public.")
    number = f"[{numbers[0]}]" if ":" in numbers[0] else numbers[0]
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{number}:{port}{path}{query}", {"sni_hostname": host}
