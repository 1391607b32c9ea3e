"""Events of HITs for requesters' programs: written with the change itself, and where they go."""

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.db import transaction

from marketplace import clock
from marketplace.models import HIT, Event, Queue, Requester, Subscription, Topic
from marketplace.notifications import delivery
from marketplace.router import DATABASE, atomic

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
    before, hit.told_status = hit.told_status, status
    if status == before:
        return
    if before == "Assignable" and hit.n_open > 0 and status != "Disposed":
        record_event(hit, "HITExpired", ended_at)
    if status == "Disposed" or (status == "Reviewable" and before != "Reviewing"):
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
    transaction.on_commit(delivery.wake, using=DATABASE)


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
    transaction.on_commit(delivery.wake, using=DATABASE)


def events_of(requester: Requester) -> Any:
    """Return a requester's events, newest first, with what became of their delivery."""
    return Event.objects.filter(requester=requester).order_by("-pk")


def send_again(event: Event, now: datetime) -> None:
    """Put an event that was sent, given up or is waiting to the front of the outbox."""
    with atomic():
        Event.objects.filter(pk=event.pk).update(next_attempt_at=now)
        transaction.on_commit(delivery.wake, using=DATABASE)


def timestamp(moment: datetime) -> str:
    """Return a moment as the envelope writes it, in UTC without fractions."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
