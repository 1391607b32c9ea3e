"""Events of HITs for requesters' programs: written with the change, delivered at least once.

Deliveries are signed and retried with growing pauses. None goes to an address inside our own
network.
"""

import hashlib
import hmac
import ipaddress
import json
import logging
import random
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Event as Signal
from threading import Lock, Thread, Timer
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from django.db import connections, transaction
from standardwebhooks import Webhook

from common.wrong_clocks import over
from marketplace import clock, configuration
from marketplace.configuration import private_webhooks
from marketplace.fault_injection import faults_of
from marketplace.models import HIT, Event, Queue, Requester, Subscription, Topic
from marketplace.router import DATABASE, atomic

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
CLAIMED_FOR = timedelta(seconds=60)
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
        share = faults_of(event.requester).reordered_events
        if event.n_attempts == 1 and _chance(event, "order") < share:
            _settle(event, next_attempt_at=now + REORDERED_BY)
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
            event.next_attempt_at = now + CLAIMED_FOR
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


# ours: there are no regions and no accounts of Amazon's here, but clients take names apart.
TOPIC_PREFIX = "arn:aws:sns:us-east-1"
QUEUE_PREFIX = "arn:aws:sqs:us-east-1"
QUEUE_ADDRESS = re.compile(r"https?://[^/]+/(\d{12})/([A-Za-z0-9_-]{1,80})", re.ASCII)


def account_of(requester_id: int) -> str:
    """Return a requester's account as names of topics and queues have it, twelve digits."""
    return f"{requester_id:012d}"


def arn_of(topic: Topic) -> str:
    """Return the name of a topic that is its own everywhere."""
    return f"{TOPIC_PREFIX}:{account_of(topic.requester_id)}:{topic.name}"


def topic_of(requester_id: int, arn: str) -> Topic | None:
    """Return the requester's topic of this ARN, None if there is none."""
    prefix, _, name = arn.rpartition(":")
    if prefix != f"{TOPIC_PREFIX}:{account_of(requester_id)}":
        return None
    return Topic.objects.filter(requester=requester_id, name=name).first()


def queue_at(requester_id: int, address: str) -> Queue | None:
    """Return the requester's queue at this address, None if there is none."""
    match = QUEUE_ADDRESS.fullmatch(address)
    if match is None or match[1] != account_of(requester_id):
        return None
    return Queue.objects.filter(requester=requester_id, name=match[2]).first()


def destinations_of(requester_id: int, notification: dict[str, Any]) -> list[dict[str, Any]]:
    """Return where an event for this Notification goes, as the fields of Event that say so."""
    named = notification["Destination"]
    if notification["Transport"] == "SQS":
        queue = queue_at(requester_id, named)
        # Where their own queue was and is gone nobody listens; elsewhere somebody may.
        match = QUEUE_ADDRESS.fullmatch(named)
        if queue is None and match and match[1] == account_of(requester_id):
            return []
        return [{"destination": named, "queue": queue}]
    if not named.startswith("arn:"):
        return [{"destination": named}]
    topic = topic_of(requester_id, named)
    heard = Subscription.objects.filter(topic=topic, confirmed_at__isnull=False)
    addresses = heard.order_by("pk").values_list("endpoint", flat=True)
    return [{"destination": address, "topic_arn": named} for address in addresses]


def confirm(arn: str, token: str, now: datetime) -> Subscription | None:
    """Return the subscription that was sent this token, which hears its topic from now on."""
    row = Subscription.objects.select_related("topic").filter(token=token).first()
    if row is None or arn_of(row.topic) != arn:
        return None
    if row.confirmed_at is None:
        Subscription.objects.filter(pk=row.pk, confirmed_at=None).update(confirmed_at=now)
    return row


# What a change of a HIT's status is called.
OF_STATUS = {"Reviewable": "HITReviewable", "Disposed": "HITDisposed"}


def record_event(hit: HIT, event_type: str, at: datetime, assignment_id: str = "") -> None:
    """Put an event into the outbox if the HIT's type asks for it; expects its type loaded.

    at: when it happened; what time alone brought about is often noticed, and sent, days later.
    Expects the transaction of the change, so that both are kept or neither.
    """
    kind = hit.hit_type
    notification: dict[str, Any] | None = kind.notification if kind.is_notifying else None
    if notification is None or event_type not in notification["EventTypes"]:
        return
    content = {
        "EventType": event_type,
        "EventTimestamp": timestamp(at),
        "HITTypeId": kind.hit_type_id,
        "HITId": hit.hit_id,
    }
    if assignment_id:
        content["AssignmentId"] = assignment_id
    post_event(hit.requester_id, notification, content, clock.now())


def record_status_event(hit: HIT, status: str, now: datetime, ended_at: datetime) -> None:
    """Record the events of a HIT's new status; changes `told_status`, which the caller saves.

    ended_at: since when it is over, where it is.
    """
    previous, hit.told_status = hit.told_status, status
    if status == previous:
        return
    if previous == "Assignable" and hit.n_open > 0 and status != "Disposed":
        record_event(hit, "HITExpired", ended_at)
    if status == "Disposed" or (status == "Reviewable" and previous != "Reviewing"):
        record_event(hit, OF_STATUS[status], now)


def post_event(
    requester_id: int, notification: dict[str, Any], content: dict[str, Any], now: datetime
) -> None:
    """Put an event into the outbox for each of its destinations, sent after the transaction."""
    for place in destinations_of(requester_id, notification):
        Event.objects.create(
            requester_id=requester_id,
            transport=notification["Transport"],
            version=notification["Version"],
            content=content,
            created_at=now,
            next_attempt_at=now,
            **place,
        )
    transaction.on_commit(wake, using=DATABASE)


def ask_to_confirm(subscription: Subscription, site: str, now: datetime) -> None:
    """Send a topic's new listener the token that it has to show; `site` is our own address."""
    arn, token = arn_of(subscription.topic), subscription.token
    asked = urlencode({"Action": "ConfirmSubscription", "TopicArn": arn, "Token": token})
    content = {
        "EventType": "SubscriptionConfirmation",
        "EventTimestamp": timestamp(now),
        "Token": token,
        "SubscribeURL": f"{site}/?{asked}",
    }
    Event.objects.create(
        requester_id=subscription.topic.requester_id,
        transport="SNS",
        destination=subscription.endpoint,
        topic_arn=arn,
        version="2014-08-15",
        content=content,
        created_at=now,
        next_attempt_at=now,
    )
    transaction.on_commit(wake, using=DATABASE)


def events_of(requester: Requester) -> Any:
    """Return a requester's events, newest first, with what became of their delivery."""
    return Event.objects.filter(requester=requester).order_by("-pk")


def send_again(event: Event, now: datetime) -> None:
    """Put an event that was sent, given up or is waiting to the front of the outbox."""
    with atomic():
        Event.objects.filter(pk=event.pk).update(next_attempt_at=now)
        transaction.on_commit(wake, using=DATABASE)


def timestamp(moment: datetime) -> str:
    """Return a moment as the envelope writes it, in UTC without fractions."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
