"""Events: told with the change, delivered signed and at least once, seen by their requester."""

import hashlib
import hmac
import json
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from django.core.management import call_command
from standardwebhooks import Webhook, WebhookVerificationError

from marketplace import clock
from marketplace.fault_injection import change_faults
from marketplace.models import Event, Requester
from marketplace.notifications import events
from marketplace.notifications.events import deliver_due
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor
from marketplace.wire.shapes import service_model

EVENTS = [name for name in service_model().shape_for("EventType").enum if name != "Ping"]
ADDRESS = "https://listener.example/events?of=rita"


def notification(**changes: Any) -> dict[str, Any]:
    return {
        "Destination": ADDRESS,
        "Transport": "SQS",
        "Version": "2014-08-15",
        "EventTypes": EVENTS,
    } | changes


class Listener:
    """Takes what is sent, or refuses it a few times first."""

    def __init__(self, n_refusals: int = 0) -> None:
        self.n_refusals = n_refusals
        self.taken: list[tuple[str, dict[str, str], bytes]] = []

    def __call__(self, address: str, headers: dict[str, str], body: bytes) -> None:
        if self.n_refusals:
            self.n_refusals -= 1
            raise events.WebhookError("The listener answered 503.")
        self.taken.append((address, headers, body))

    @property
    def told(self) -> list[str]:
        """Return the types of the events, in the order they came."""
        return [json.loads(body)["Events"][0]["EventType"] for _, _, body in self.taken]


@pytest.fixture
def told_hit(rita: Any, make_hit: Any) -> dict[str, Any]:
    """A HIT whose type tells everything."""
    first = make_hit(rita)
    rita.update_notification_settings(HITTypeId=first["HITTypeId"], Notification=notification())
    Event.objects.all().delete()
    return make_hit(rita, MaxAssignments=2)


def test_a_hit_s_life_is_told(
    rita: Any, ada: Visitor, grace: Visitor, told_hit: dict[str, Any], later: Any
) -> None:
    returned = ada.accept(told_hit)
    ada.post(returned.path, f"{returned.path}return/")
    ada.submit(told_hit)
    grace.submit(told_hit)
    [one, two] = rita.list_assignments_for_hit(HITId=told_hit["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=one["AssignmentId"])
    rita.reject_assignment(AssignmentId=two["AssignmentId"], RequesterFeedback="Empty.")
    rita.delete_hit(HITId=told_hit["HITId"])
    listener = Listener()
    deliver_due(clock.now(), listener)
    assert listener.told == [
        "HITCreated",
        "AssignmentAccepted",
        "AssignmentReturned",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "HITReviewable",
        "AssignmentApproved",
        "AssignmentRejected",
        "HITDisposed",
    ]
    assert deliver_due(clock.now(), listener).n_delivered == 0


def test_time_is_told_too(rita: Any, ada: Visitor, told_hit: dict[str, Any], later: Any) -> None:
    ada.accept(told_hit)
    later(hours=25)
    rita.get_hit(HITId=told_hit["HITId"])
    rita.create_additional_assignments_for_hit(
        HITId=told_hit["HITId"], NumberOfAdditionalAssignments=1
    )
    rita.update_expiration_for_hit(
        HITId=told_hit["HITId"], ExpireAt=clock.now() + timedelta(hours=1)
    )
    told = [event.content["EventType"] for event in Event.objects.order_by("pk")]
    assert told == [
        "HITCreated",
        "AssignmentAccepted",
        "AssignmentAbandoned",
        "HITExpired",
        "HITReviewable",
        "HITExtended",
        "HITExtended",
    ]
    [abandoned] = Event.objects.filter(content__EventType="AssignmentAbandoned")
    assert set(abandoned.content) == {
        "EventType",
        "EventTimestamp",
        "HITTypeId",
        "HITId",
        "AssignmentId",
    }


def test_only_what_was_asked_for_is_told(
    rita: Any, told_hit: dict[str, Any], make_hit: Any
) -> None:
    one = {"HITTypeId": told_hit["HITTypeId"]}
    Event.objects.all().delete()
    rita.update_notification_settings(
        **one, Notification=notification(EventTypes=["HITReviewable"])
    )
    make_hit(rita)
    rita.update_notification_settings(**one, Notification=notification())
    rita.update_notification_settings(**one, Active=False)
    make_hit(rita)
    assert not Event.objects.exists()
    rita.update_notification_settings(**one, Active=True)
    make_hit(rita)
    assert Event.objects.count() == 1


def test_a_message_is_signed_and_in_the_documented_envelope(rita: Any) -> None:
    for transport in ("SQS", "SNS"):
        rita.send_test_event_notification(
            Notification=notification(Transport=transport), TestEventType="Ping"
        )
    listener = Listener()
    deliver_due(clock.now(), listener)
    (address, headers, plain), (_, _, wrapped) = listener.taken
    assert address == ADDRESS
    document = json.loads(plain)
    assert list(document) == ["EventDocVersion", "EventDocId", "CustomerId", "Events"]
    assert document["Events"][0]["EventType"] == "Ping"
    envelope = json.loads(wrapped)
    assert envelope["Type"] == "Notification"
    assert json.loads(envelope["Message"])["EventDocVersion"] == "2014-08-15"

    secret = Requester.objects.get().entry_secret.encode()
    assert Webhook(secret).verify(plain, headers) == document
    assert headers["webhook-id"] == document["EventDocId"]
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(plain + b" ", headers)
    stamp, _, given = headers[events.FORMER_SIGNATURE].removeprefix("t=").partition(",v1=")
    assert hmac.new(secret, f"{stamp}.".encode() + plain, hashlib.sha256).hexdigest() == given


def test_with_injected_faults_events_come_twice_and_late(rita: Any, later: Any) -> None:
    change_faults(
        Requester.objects.get(), {"duplicate_events": 1, "reordered_events": 0.5, "seed": 3}
    )
    for name in EVENTS:
        rita.send_test_event_notification(Notification=notification(), TestEventType=name)
    listener = Listener()
    deliver_due(clock.now(), listener)
    later(seconds=6)
    deliver_due(clock.now(), listener)
    assert sorted(listener.told) == sorted(EVENTS * 2)
    assert listener.told[::2] != EVENTS


@pytest.mark.parametrize(
    "changes",
    [
        {"Transport": "Email", "Destination": "rita@lab.example"},
        {"Destination": "https://a..b/"},
        {"Destination": f"https://{'a' * 64}.example/"},
        {"Destination": "arn:aws:sns:us-east-1:1:topic"},
        {"Destination": "http://listener.example/"},
        {"Destination": "https://127.0.0.1/"},
        {"Destination": "https://localhost:8000/"},
        {"Destination": "https://[::1]/"},
        {"Destination": "https://10.0.0.5/"},
        {"Destination": "https://[64:ff9b::7f00:1]/"},
        {"Destination": "https://[2002:a00:5::1]/"},
        {"Destination": "https://a@b.example/"},
        {"Destination": "https://b.example:port/"},
    ],
)
def test_events_go_to_public_listeners_alone(rita: Any, changes: dict[str, Any]) -> None:
    with refused("InvalidTransportEndpoint"):
        rita.send_test_event_notification(
            Notification=notification(**changes), TestEventType="Ping"
        )


def test_settings_that_cannot_be_are_refused(
    rita: Any, other_requester: Any, make_hit: Any
) -> None:
    one = {"HITTypeId": make_hit(rita)["HITTypeId"]}
    with refused("InvalidParameterValue", "no Notification yet"):
        rita.update_notification_settings(**one, Active=True)
    with refused("InvalidParameterValue", "Ping"):
        rita.update_notification_settings(**one, Notification=notification(EventTypes=["Ping"]))
    with refused("InvalidParameterValue", "Version"):
        rita.update_notification_settings(**one, Notification=notification(Version="1999-01-01"))
    with refused("HITTypeDoesNotExist"):
        other_requester.update_notification_settings(**one, Notification=notification())


class Door(BaseHTTPRequestHandler):
    """A requester's listener on this machine."""

    bodies: list[bytes] = []

    def do_POST(self) -> None:
        """Take what comes, or send it elsewhere."""
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(302 if self.path == "/elsewhere" else 204)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def test_a_listener_on_this_machine_needs_the_host_s_leave(
    rita: Any, settings: Any, capsys: Any
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://localhost:{server.server_port}"
    try:
        with pytest.raises(events.WebhookError, match="https"):
            events.send(address, {}, b"{}")
        settings.MARKETPLACE_PRIVATE_WEBHOOKS = True
        for path in ("/", "/elsewhere"):
            rita.send_test_event_notification(
                Notification=notification(Destination=address + path), TestEventType="Ping"
            )
        call_command("deliver_events", "--once", "--json")
    finally:
        server.shutdown()
        server.server_close()
    assert json.loads(capsys.readouterr().out) == {
        "n_delivered": 1,
        "n_failed": 1,
        "n_waiting": 1,
    }
    assert len(Door.bodies) == 2
    assert "302" in Event.objects.get(delivered_at=None).problem
