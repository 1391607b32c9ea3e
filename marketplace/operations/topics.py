"""Topics and their listeners, as programs that know SNS make them for the events of their HITs."""

import re
from collections.abc import Iterable
from typing import Any

from django.db import transaction

from marketplace import clock
from marketplace.configuration import base_url
from marketplace.models import Event, Subscription, Topic
from marketplace.notifications import webhook
from marketplace.notifications.destinations import account_of, arn_of, confirm, topic_of
from marketplace.notifications.events import ask_to_confirm
from marketplace.router import DATABASE
from marketplace.wire.errors import WireError
from marketplace.wire.pagination import page_of
from marketplace.wire.registry import TOPICS, Call, operation

# As the service has it.
PAGE_SIZE = 100
NAME = re.compile(r"[A-Za-z0-9_-]{1,256}", re.ASCII)


@operation("CreateTopic", TOPICS)
def create_topic(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the caller's topic of this name, made unless it was there."""
    name = parameters["Name"]
    if NAME.fullmatch(name) is None:
        raise _invalid("Name has to be 1 to 256 letters, digits, hyphens and underscores.")
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
        raise _invalid("Protocol has to be https or http.")
    if not endpoint.startswith(f"{parameters['Protocol']}://"):
        raise _invalid("Endpoint has to be an address of this Protocol.")
    if problem := webhook.problem_with(endpoint):
        raise _invalid(problem.replace("Destination", "Endpoint"))
    with transaction.atomic(using=DATABASE):
        row, _ = Subscription.objects.get_or_create(topic=topic, endpoint=endpoint)
        if row.confirmed_at is None:
            ask_to_confirm(row, base_url(call.request), call.now)
    if row.confirmed_at is None and not parameters.get("ReturnSubscriptionArn"):
        return {"SubscriptionArn": "pending confirmation"}
    return {"SubscriptionArn": _name_of(row)}


@operation("ConfirmSubscription", TOPICS)
def confirm_subscription(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Let the listener that was sent this token hear its topic."""
    return confirmed(parameters)


def confirmed(parameters: dict[str, Any]) -> dict[str, Any]:
    """Confirm a subscription for whoever has its token, and return the reply; raises WireError."""
    row = confirm(parameters["TopicArn"], parameters["Token"], clock.now())
    if row is None:
        raise _invalid("Token was not given out for this topic, or its subscription is gone.")
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
    """Keep what waits from listeners that are about to go."""
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


def _invalid(message: str) -> WireError:
    return WireError("InvalidParameter", message)
