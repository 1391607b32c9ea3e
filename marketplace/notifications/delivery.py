"""Delivers the outbox of events: at least once, signed, tried again with growing pauses."""

import json
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event as Signal
from threading import Lock, Thread
from typing import Any

from django.db import connections, transaction

from common.wrong_clocks import over
from marketplace import clock, configuration
from marketplace.models import Event
from marketplace.notifications import webhook
from marketplace.router import DATABASE
from marketplace.wire.fault_injection import faults_of

log = logging.getLogger(__name__)

# While one process delivers an event the others leave it alone for so long.
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


def deliver_due(now: datetime, send: Send = webhook.send, most: int = 500) -> Delivery:
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
            if isinstance(error, webhook.WebhookError):
                silent.add(event.destination)
            else:
                log.exception("Event %s cannot be delivered.", event.document_id)
            n_failed += 1
            _keep_trying(event, str(error), now)
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
    return webhook.signed_headers(secret, event.document_id, written, now) | topic, written


def document_of(event: Event) -> dict[str, Any]:
    """Return the document that tells an event, as the service wrote them."""
    return {
        "EventDocVersion": event.version,
        "EventDocId": event.document_id,
        "CustomerId": event.requester.name,
        "Events": [event.content],
    }


def _claim(now: datetime, silent: set[str]) -> Event | None:
    with transaction.atomic(using=DATABASE):
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


def _keep_trying(event: Event, problem: str, now: datetime) -> None:
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(event.n_attempts - 1, 10))
    is_given_up = event.n_attempts >= LEAST_TRIES and now - event.created_at > GIVEN_UP_AFTER
    _settle(event, problem=problem[:300], next_attempt_at=None if is_given_up else now + pause)
    log.warning("Event %s was not taken by %s: %s", event.document_id, event.destination, problem)


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
    """Let this process deliver soon, unless the host leaves that to `deliver_events`."""
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
