"""Delivers the outbox of events: at least once, signed, retried with growing pauses.

No message goes to an address inside our own network.
"""

import hashlib
import hmac
import ipaddress
import json
import logging
import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Event as Signal
from threading import Lock, Thread, Timer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.db import connections
from standardwebhooks import Webhook

from common.wrong_clocks import over
from marketplace import clock, configuration
from marketplace.configuration import private_webhooks
from marketplace.fault_injection import faults_of
from marketplace.models import Event
from marketplace.router import atomic

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
    """Return whether an address is everybody's; of one that carries another, the inner one counts.

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


log = logging.getLogger(__name__)

# How long other processes leave an event alone that one process delivers.
CLAIM = timedelta(seconds=60)
FIRST_PAUSE = timedelta(seconds=10)
LONGEST_PAUSE = timedelta(hours=1)
# By the clock alone an hour in which it is ahead would give all up.
GIVEN_UP_AFTER, LEAST_TRIES = timedelta(days=3), 12
REORDERED_BY = timedelta(seconds=5)
IDLE_SECONDS = 30

Send = Callable[[str, dict[str, str], bytes], None]


@dataclass(frozen=True)
class Delivery:
    """What a round of delivering came to."""

    n_delivered: int = 0
    n_failed: int = 0


def deliver_due(now: datetime, send: Send = send, most: int = 500) -> Delivery:
    """Try every event that is due, oldest first; never called inside a transaction.

    `send` takes address, headers and body, and raises webhook.WebhookError when it is not taken.
    A listener that did not take one is left alone for the rest of the round, so that nobody else's
    events wait for it.
    """
    n_delivered = n_failed = 0
    silent: set[str] = set()
    began, began_at = time.monotonic(), now
    for _ in range(most):
        # Listeners take their time; a claim and a signature are of the moment they are made.
        now = began_at + timedelta(seconds=time.monotonic() - began)
        event = _claim(now, silent)
        if event is None:
            break
        if _is_held_back(event, now):
            continue
        try:
            is_twice = _chance(event, "copies") < faults_of(event.requester).duplicate_events
            for _ in range(2 if is_twice else 1):
                send(event.destination, *envelope_of(event, now))
        except Exception as error:
            # Whatever is wrong with one event, the others go out.
            if isinstance(error, WebhookError):
                silent.add(event.destination)
            else:
                log.exception("Event %s cannot be delivered.", event.document_id)
            n_failed += 1
            problem = str(error)
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(event.n_attempts - 1, 10))
            is_given_up = (
                event.n_attempts >= LEAST_TRIES and now - event.created_at > GIVEN_UP_AFTER
            )
            _settle(
                event, problem=problem[:300], next_attempt_at=None if is_given_up else now + pause
            )
            log.warning(
                "Event %s was not taken by %s: %s", event.document_id, event.destination, problem
            )
        else:
            n_delivered += 1
            _settle(event, delivered_at=now, next_attempt_at=None, problem="")
    return Delivery(n_delivered, n_failed)


def envelope_of(event: Event, now: datetime) -> tuple[dict[str, str], bytes]:
    """Return headers and body: the document itself (SQS), or inside a message of SNS's."""
    body = document_of(event)
    topic = {}
    if event.transport == "SNS":
        body = {
            "Type": "Notification",
            "MessageId": event.document_id,
            "TopicArn": event.topic_arn or event.destination,
            "Message": json.dumps(body),
            "Timestamp": event.content["EventTimestamp"],
        }
        if "Token" in event.content:
            body |= {
                "Type": "SubscriptionConfirmation",
                "Token": event.content["Token"],
                "SubscribeURL": event.content["SubscribeURL"],
                "Message": f"You have chosen to subscribe to the topic {event.topic_arn}. "
                "To confirm the subscription, visit the SubscribeURL included in this message.",
            }
        topic = {
            "x-amz-sns-message-type": body["Type"],
            "x-amz-sns-message-id": event.document_id,
            "x-amz-sns-topic-arn": body["TopicArn"],
        }
    written = json.dumps(body).encode()
    secret = event.requester.entry_secret
    return signed_headers(secret, event.document_id, written, now) | topic, written


def document_of(event: Event) -> dict[str, Any]:
    """Return the document that tells an event, as the service wrote them."""
    return {
        "EventDocVersion": event.version,
        "EventDocId": event.document_id,
        "CustomerId": event.requester.name,
        "Events": [event.content],
    }


def _claim(now: datetime, silent: set[str]) -> Event | None:
    with atomic():
        event = (
            Event.objects.select_for_update(of=("self",), skip_locked=True)
            .select_related("requester")
            .filter(over("next_attempt_at", now, LONGEST_PAUSE), queue=None)
            .exclude(destination__in=silent)
            .order_by("next_attempt_at", "pk")
            .first()
        )
        if event is not None:
            event.n_attempts += 1
            event.next_attempt_at = now + CLAIM
            event.save(update_fields=["n_attempts", "next_attempt_at"])
        return event


def _settle(event: Event, **changes: Any) -> None:
    for name, value in changes.items():
        setattr(event, name, value)
    event.save(update_fields=list(changes))


def _chance(event: Event, what: str) -> float:
    # By the event alone, so that a rehearsal with the same seed has the same faults.
    seed = faults_of(event.requester).seed
    return random.Random(f"{seed}:{what}:{event.pk}").random()


def _is_held_back(event: Event, now: datetime) -> bool:
    share = faults_of(event.requester).reordered_events
    if event.n_attempts > 1 or _chance(event, "order") >= share:
        return False
    _settle(event, next_attempt_at=now + REORDERED_BY)
    return True


_something = Signal()
_start = Lock()
_thread: Thread | None = None


def deliver_quietly() -> None:
    """Deliver what is due; what fails, like a database that starts again, is for the next look."""
    try:
        deliver_due(clock.now())
    except Exception:
        log.exception("Delivering events failed; it is tried again.")
        connections.close_all()


def wake() -> None:
    """Make this process deliver soon, unless the host leaves that to `deliver_events`."""
    global _thread
    if not configuration.delivers_events():
        return
    _something.set()
    with _start:
        if _thread is None or not _thread.is_alive():
            _thread = Thread(target=_keep_delivering, name="events", daemon=True)
            _thread.start()


def _keep_delivering() -> None:
    while True:
        _something.wait(IDLE_SECONDS)
        _something.clear()
        deliver_quietly()
        connections.close_all()
