"""Finds where a notification goes: to an address, to the listeners of a topic, or into a queue."""

import re
from datetime import datetime
from typing import Any

from marketplace.models import Queue, Subscription, Topic

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
