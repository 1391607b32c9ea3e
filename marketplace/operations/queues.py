"""Queues that programs fetch the events of their HITs from, as far as clients of SQS need them."""

import hashlib
import json
import re
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from common.wrong_clocks import over
from marketplace.configuration import base_url
from marketplace.models import Event, Queue
from marketplace.notifications.delivery import document_of
from marketplace.notifications.destinations import QUEUE_PREFIX, account_of, queue_at
from marketplace.router import DATABASE
from marketplace.wire.errors import WireError
from marketplace.wire.registry import QUEUES, Call, operation

NAME = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)
# As the service has them.
MOST_MESSAGES = 10
LONGEST_VISIBILITY_SECONDS = 43_200
KEPT = timedelta(days=4)
VISIBILITY = "VisibilityTimeout"
NO_QUEUE = "AWS.SimpleQueueService.NonExistentQueue"


@operation("CreateQueue", QUEUES)
def create_queue(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the address of the caller's queue of this name, made unless it was there."""
    name = parameters["QueueName"]
    if NAME.fullmatch(name) is None:
        raise _invalid("QueueName has to be 1 to 80 letters, digits, hyphens and underscores.")
    seconds = _visibility(parameters.get("Attributes", {}).get(VISIBILITY, "30"))
    queue, _ = Queue.objects.get_or_create(
        requester=call.requester,
        name=name,
        defaults={"created_at": call.now, "visibility_seconds": seconds},
    )
    return {"QueueUrl": _address_of(call, queue)}


@operation("GetQueueUrl", QUEUES)
def get_queue_url(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the address of the caller's queue of this name."""
    queue = Queue.objects.filter(requester=call.requester, name=parameters["QueueName"]).first()
    return {"QueueUrl": _address_of(call, _there(queue))}


@operation("ListQueues", QUEUES)
def list_queues(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the addresses of the caller's queues."""
    rows = Queue.objects.filter(
        requester=call.requester, name__startswith=parameters.get("QueueNamePrefix", "")
    )
    return {"QueueUrls": [_address_of(call, queue) for queue in rows.order_by("name")]}


@operation("GetQueueAttributes", QUEUES)
def get_queue_attributes(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return those of a queue's attributes that were asked for."""
    queue = _own_queue(call, parameters)
    waiting = _waiting(call, queue)
    n_visible = waiting.filter(_visible(call)).count()
    found = {
        "QueueArn": f"{QUEUE_PREFIX}:{account_of(call.requester.pk)}:{queue.name}",
        "ApproximateNumberOfMessages": str(n_visible),
        "ApproximateNumberOfMessagesNotVisible": str(waiting.count() - n_visible),
        VISIBILITY: str(queue.visibility_seconds),
    }
    asked = parameters.get("AttributeNames", [])
    return {"Attributes": {name: found[name] for name in found if {"All", name} & {*asked}}}


@operation("SetQueueAttributes", QUEUES)
def set_queue_attributes(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Change how long a message is hidden; a Policy changes nothing, as only events come here."""
    queue = _own_queue(call, parameters)
    if given := parameters["Attributes"].get(VISIBILITY):
        queue.visibility_seconds = _visibility(given)
        queue.save(update_fields=["visibility_seconds"])
    return {}


@operation("DeleteQueue", QUEUES)
def delete_queue(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Delete a queue and what waits in it."""
    _own_queue(call, parameters).delete()
    return {}


@operation("ReceiveMessage", QUEUES)
def receive_message(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return messages and hide them for a while; it answers at once, whatever WaitTimeSeconds."""
    queue = _own_queue(call, parameters)
    most = parameters.get("MaxNumberOfMessages", 1)
    if not 1 <= most <= MOST_MESSAGES:
        raise _invalid(f"MaxNumberOfMessages has to be 1 to {MOST_MESSAGES}.")
    hidden = _visibility(parameters.get(VISIBILITY, queue.visibility_seconds))
    with transaction.atomic(using=DATABASE):
        rows = _waiting(call, queue).filter(_visible(call)).order_by("pk")
        rows = rows.select_for_update(of=("self",), skip_locked=True).select_related("requester")
        found = list(rows[:most])
        for event in found:
            event.n_attempts += 1
            event.next_attempt_at = call.now + timedelta(seconds=hidden)
        Event.objects.bulk_update(found, ["n_attempts", "next_attempt_at"])
    return {"Messages": [_message(event) for event in found] or None}


def _message(event: Event) -> dict[str, Any]:
    body = json.dumps(document_of(event))
    return {
        "MessageId": event.document_id,
        "ReceiptHandle": f"{event.document_id}-{event.n_attempts}",
        "Body": body,
        # What the service's clients check a body against.
        "MD5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
        "Attributes": {
            "ApproximateReceiveCount": str(event.n_attempts),
            "SentTimestamp": str(int(event.created_at.timestamp() * 1000)),
        },
    }


@operation("DeleteMessage", QUEUES)
def delete_message(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Take a message that was received out of its queue; nothing happens if it is gone."""
    _received(call, parameters, parameters).update(next_attempt_at=None, delivered_at=call.now)
    return {}


@operation("DeleteMessageBatch", QUEUES)
def delete_message_batch(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Take several messages that were received out of their queue."""
    for entry in parameters["Entries"]:
        _received(call, parameters, entry).update(next_attempt_at=None, delivered_at=call.now)
    return {"Successful": [{"Id": entry["Id"]} for entry in parameters["Entries"]], "Failed": []}


@operation("ChangeMessageVisibility", QUEUES)
def change_message_visibility(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Hide a message that was received for so much longer from now; with 0 it is there again."""
    until = call.now + timedelta(seconds=_visibility(parameters[VISIBILITY]))
    _received(call, parameters, parameters).update(next_attempt_at=until)
    return {}


def _received(call: Call, parameters: dict[str, Any], named: dict[str, Any]) -> Any:
    document_id = named["ReceiptHandle"].rpartition("-")[0]
    return _waiting(call, _own_queue(call, parameters)).filter(document_id=document_id)


def _waiting(call: Call, queue: Queue) -> Any:
    return Event.objects.filter(
        queue=queue, next_attempt_at__isnull=False, created_at__gt=call.now - KEPT
    )


def _visible(call: Call) -> Q:
    return over("next_attempt_at", call.now, timedelta(seconds=LONGEST_VISIBILITY_SECONDS))


def _own_queue(call: Call, parameters: dict[str, Any]) -> Queue:
    return _there(queue_at(call.requester.pk, parameters["QueueUrl"]))


def _there(queue: Queue | None) -> Queue:
    if queue is None:
        raise WireError("QueueDoesNotExist", "The specified queue does not exist.", NO_QUEUE)
    return queue


def _address_of(call: Call, queue: Queue) -> str:
    return f"{base_url(call.request)}/{account_of(call.requester.pk)}/{queue.name}"


def _visibility(given: Any) -> int:
    try:
        seconds = int(given)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= LONGEST_VISIBILITY_SECONDS:
        raise _invalid(f"{VISIBILITY} has to be 0 to {LONGEST_VISIBILITY_SECONDS} seconds.")
    return seconds


def _invalid(message: str) -> WireError:
    return WireError("InvalidAttributeValue", message)
