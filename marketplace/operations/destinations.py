"""Where events go: notification settings, topics as SNS has them, queues as SQS has them."""

import hashlib
import json
import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db.models import Q

from common.wrong_clocks import over
from marketplace import clock
from marketplace.configuration import base_url
from marketplace.models import Event, Queue, Subscription, Topic
from marketplace.notifications import events
from marketplace.notifications.events import (
    QUEUE_PREFIX,
    account_of,
    arn_of,
    ask_to_confirm,
    confirm,
    document_of,
    queue_at,
    topic_of,
)
from marketplace.operations.hits import own_hit_type
from marketplace.router import atomic
from marketplace.wire.calls import (
    QUEUES,
    TOPICS,
    Call,
    InvalidParameter,
    RequestError,
    WireError,
    operation,
    page_of,
)

NO_TOPIC = "Destination is no topic of yours here; make it with CreateTopic at this marketplace."
VERSIONS = ("2014-08-15", "2006-05-05")


@operation("UpdateNotificationSettings")
def update_notification_settings(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Set, switch off or switch on what a HIT type tells."""
    kind = own_hit_type(call, parameters["HITTypeId"])
    if "Notification" in parameters:
        kind.notification = _checked(call, parameters["Notification"])
        if "Ping" in kind.notification["EventTypes"]:
            raise InvalidParameter("Ping is for SendTestEventNotification alone.")
    if kind.notification is None:
        raise InvalidParameter("This HIT type has no Notification yet; give one.")
    kind.is_notifying = parameters.get("Active", True)
    kind.save(update_fields=["notification", "is_notifying"])
    return {}


@operation("SendTestEventNotification")
def send_test_event_notification(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Send an event that did not happen, to see whether it arrives."""
    notification = _checked(call, parameters["Notification"])
    content = {
        "EventType": parameters["TestEventType"],
        "EventTimestamp": events.timestamp(call.now),
        "HITTypeId": "0" * 30,
        "HITId": "0" * 30,
    }
    if parameters["TestEventType"].startswith("Assignment"):
        content["AssignmentId"] = "0" * 30
    events.post_event(call.requester.pk, notification, content, call.now)
    return {}


def _checked(call: Call, notification: dict[str, Any]) -> dict[str, Any]:
    if notification["Version"] not in VERSIONS:
        raise InvalidParameter(f"Version has to be {VERSIONS[0]}.")
    if notification["Transport"] == "Email":
        raise RequestError(
            "InvalidTransportEndpoint",
            "This marketplace sends no events by mail; use SQS or SNS with the address of your "
            "own listener as Destination.",
        )
    named = notification["Destination"]
    if notification["Transport"] == "SNS" and named.startswith("arn:"):
        problem = "" if topic_of(call.requester.pk, named) else NO_TOPIC
    elif notification["Transport"] == "SQS" and queue_at(call.requester.pk, named):
        problem = ""
    else:
        problem = events.problem_with(named)
    if problem:
        raise RequestError("InvalidTransportEndpoint", problem)
    return notification


# As the service has it.
PAGE_SIZE = 100
TOPIC_NAME = re.compile(r"[A-Za-z0-9_-]{1,256}", re.ASCII)


@operation("CreateTopic", TOPICS)
def create_topic(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the caller's topic of this name, made unless it was there."""
    name = parameters["Name"]
    if TOPIC_NAME.fullmatch(name) is None:
        raise _invalid_parameter(
            "Name has to be 1 to 256 letters, digits, hyphens and underscores."
        )
    topic, _ = Topic.objects.get_or_create(
        requester=call.requester, name=name, defaults={"created_at": call.now}
    )
    return {"TopicArn": arn_of(topic)}


@operation("DeleteTopic", TOPICS)
def delete_topic(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Delete a topic and its subscriptions; nothing happens if it is gone."""
    if topic := topic_of(call.requester.pk, parameters["TopicArn"]):
        _silence(call, topic.subscriptions.select_related("topic"))
        topic.delete()
    return {}


@operation("ListTopics", TOPICS)
def list_topics(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the caller's topics."""
    rows = Topic.objects.filter(requester=call.requester)
    found, token = page_of(rows, parameters | {"MaxResults": PAGE_SIZE})
    return {"Topics": [{"TopicArn": arn_of(topic)} for topic in found], "NextToken": token}


@operation("GetTopicAttributes", TOPICS)
def get_topic_attributes(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return whose a topic is, and how many listen to it."""
    topic = _own_topic(call, parameters)
    n_pending = topic.subscriptions.filter(confirmed_at=None).count()
    return {
        "Attributes": {
            "TopicArn": arn_of(topic),
            "Owner": account_of(call.requester.pk),
            "SubscriptionsPending": str(n_pending),
            "SubscriptionsConfirmed": str(topic.subscriptions.count() - n_pending),
        }
    }


@operation("SetTopicAttributes", TOPICS)
def set_topic_attributes(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Change nothing: whatever a Policy allows, only the events of its owner's HITs come here."""
    _own_topic(call, parameters)
    return {}


@operation("Subscribe", TOPICS)
def subscribe(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Ask a web address whether it wants to listen; asked again, it is sent its token again."""
    topic = _own_topic(call, parameters)
    endpoint = parameters.get("Endpoint", "")
    if parameters["Protocol"] not in ("http", "https"):
        raise _invalid_parameter("Protocol has to be https or http.")
    if not endpoint.startswith(f"{parameters['Protocol']}://"):
        raise _invalid_parameter("Endpoint has to be an address of this Protocol.")
    if problem := events.problem_with(endpoint):
        raise _invalid_parameter(problem.replace("Destination", "Endpoint"))
    with atomic():
        row, _ = Subscription.objects.get_or_create(topic=topic, endpoint=endpoint)
        if row.confirmed_at is None:
            ask_to_confirm(row, base_url(call.request), call.now)
    if row.confirmed_at is None and not parameters.get("ReturnSubscriptionArn"):
        return {"SubscriptionArn": "pending confirmation"}
    return {"SubscriptionArn": _name_of(row)}


@operation("ConfirmSubscription", TOPICS)
def confirm_subscription(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Send the topic's events to the listener that was sent this token."""
    return confirmed(parameters)


def confirmed(parameters: dict[str, Any]) -> dict[str, Any]:
    """Confirm the subscription of this token; returns the reply, raises WireError."""
    row = confirm(parameters["TopicArn"], parameters["Token"], clock.now())
    if row is None:
        raise _invalid_parameter(
            "Token was not given out for this topic, or its subscription is gone."
        )
    return {"SubscriptionArn": _name_of(row)}


@operation("Unsubscribe", TOPICS)
def unsubscribe(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Send a listener nothing more; nothing happens if it is gone."""
    rows = _own_subscriptions(call, parameters).select_related("topic")
    _silence(call, rows)
    rows.delete()
    return {}


@operation("GetSubscriptionAttributes", TOPICS)
def get_subscription_attributes(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return where a subscription leads, and whether its listener has confirmed it."""
    row = _own_subscriptions(call, parameters).select_related("topic").first()
    if row is None:
        raise WireError("NotFound", "Subscription does not exist.")
    pending = {"PendingConfirmation": str(row.confirmed_at is None).lower()}
    return {"Attributes": _described(row) | pending}


@operation("ListSubscriptionsByTopic", TOPICS)
def list_subscriptions_by_topic(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a page of the subscriptions of a topic."""
    rows = _own_topic(call, parameters).subscriptions.select_related("topic")
    found, token = page_of(rows, parameters | {"MaxResults": PAGE_SIZE})
    return {"Subscriptions": [_described(row) for row in found], "NextToken": token}


def _own_topic(call: Call, parameters: dict[str, Any]) -> Topic:
    topic = topic_of(call.requester.pk, parameters["TopicArn"])
    if topic is None:
        raise WireError("NotFound", "Topic does not exist.")
    return topic


def _own_subscriptions(call: Call, parameters: dict[str, Any]) -> Any:
    identifier = parameters["SubscriptionArn"].rpartition(":")[2]
    return Subscription.objects.filter(identifier=identifier, topic__requester=call.requester)


def _silence(call: Call, rows: Iterable[Subscription]) -> None:
    """Give up the events that wait for listeners which are about to be deleted."""
    waiting = Event.objects.filter(requester=call.requester, next_attempt_at__isnull=False)
    for row in rows:
        theirs = waiting.filter(topic_arn=arn_of(row.topic), destination=row.endpoint)
        theirs.update(next_attempt_at=None, problem="The listener was unsubscribed.")


def _name_of(row: Subscription) -> str:
    return f"{arn_of(row.topic)}:{row.identifier}"


def _described(row: Subscription) -> dict[str, str]:
    return {
        "SubscriptionArn": _name_of(row) if row.confirmed_at else "PendingConfirmation",
        "TopicArn": arn_of(row.topic),
        "Owner": account_of(row.topic.requester_id),
        "Protocol": row.endpoint.partition(":")[0],
        "Endpoint": row.endpoint,
    }


def _invalid_parameter(message: str) -> WireError:
    return WireError("InvalidParameter", message)


QUEUE_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)
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
    if QUEUE_NAME.fullmatch(name) is None:
        raise _invalid_attribute(
            "QueueName has to be 1 to 80 letters, digits, hyphens and underscores."
        )
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
        raise _invalid_attribute(f"MaxNumberOfMessages has to be 1 to {MOST_MESSAGES}.")
    hidden = _visibility(parameters.get(VISIBILITY, queue.visibility_seconds))
    with atomic():
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
        raise _invalid_attribute(
            f"{VISIBILITY} has to be 0 to {LONGEST_VISIBILITY_SECONDS} seconds."
        )
    return seconds


def _invalid_attribute(message: str) -> WireError:
    return WireError("InvalidAttributeValue", message)
