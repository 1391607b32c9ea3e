"""UpdateNotificationSettings and SendTestEventNotification."""

from typing import Any

from marketplace.notifications import events, webhook
from marketplace.notifications.destinations import queue_at, topic_of
from marketplace.operations.hit_types import own_hit_type
from marketplace.wire.errors import InvalidParameter, RequestError
from marketplace.wire.registry import Call, operation

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
        problem = webhook.problem_with(named)
    if problem:
        raise RequestError("InvalidTransportEndpoint", problem)
    return notification
