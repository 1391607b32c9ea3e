"""UpdateNotificationSettings and SendTestEventNotification."""

from typing import Any

from marketplace.notifications import events, webhook
from marketplace.operations.hit_types import own_hit_type
from marketplace.wire.errors import InvalidParameter, RequestError
from marketplace.wire.registry import Call, operation

VERSIONS = ("2014-08-15", "2006-05-05")


@operation("UpdateNotificationSettings")
def update_notification_settings(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Set, switch off or switch on what a HIT type tells."""
    kind = own_hit_type(call, parameters["HITTypeId"])
    if "Notification" in parameters:
        kind.notification = _checked(parameters["Notification"])
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
    notification = _checked(parameters["Notification"])
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


def _checked(notification: dict[str, Any]) -> dict[str, Any]:
    if notification["Version"] not in VERSIONS:
        raise InvalidParameter(f"Version has to be {VERSIONS[0]}.")
    if notification["Transport"] == "Email":
        raise RequestError(
            "InvalidTransportEndpoint",
            "This marketplace sends no events by mail; use SQS or SNS with the address of your "
            "own listener as Destination.",
        )
    if problem := webhook.problem_with(notification["Destination"]):
        raise RequestError("InvalidTransportEndpoint", problem)
    return notification
