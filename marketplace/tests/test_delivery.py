"""The outbox of events: what is not taken is tried again, and holds up nobody else's."""

import socket
from contextlib import suppress
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError

from marketplace import clock
from marketplace.management.commands import deliver_events
from marketplace.models import Event, Requester
from marketplace.notifications import events
from marketplace.notifications.events import LEAST_TRIES, deliver_due, events_of
from marketplace.tests.test_events import ADDRESS, Listener, notification


def test_what_is_not_taken_is_tried_again_and_seen(rita: Any, later: Any) -> None:
    rita.send_test_event_notification(Notification=notification(), TestEventType="HITExpired")
    listener = Listener(n_refusals=2)
    assert deliver_due(clock.now(), listener).n_failed == 1
    [event] = events_of(Requester.objects.get())
    assert (event.n_attempts, event.delivered_at) == (1, None)
    assert "503" in event.problem
    assert deliver_due(clock.now(), listener).n_failed == 0
    later(seconds=11)
    assert deliver_due(clock.now(), listener).n_failed == 1
    later(seconds=11)
    assert deliver_due(clock.now(), listener) == deliver_due(clock.now(), listener)
    later(seconds=10)
    assert deliver_due(clock.now(), listener).n_delivered == 1
    event.refresh_from_db()
    assert (event.n_attempts, event.next_attempt_at, event.problem) == (3, None, "")


def test_an_event_that_nobody_can_send_stops_no_other(rita: Any, later: Any) -> None:
    for _ in range(2):
        rita.send_test_event_notification(Notification=notification(), TestEventType="Ping")
    listener = Listener()

    def send(address: str, headers: dict[str, str], body: bytes) -> None:
        if Event.objects.earliest("pk").document_id in body.decode():
            raise UnicodeError("label too long")
        listener(address, headers, body)

    done = deliver_due(clock.now(), send)
    assert (done.n_failed, done.n_delivered) == (1, 1)
    assert "label too long" in Event.objects.earliest("pk").problem


def test_a_listener_that_takes_nothing_is_tried_once_a_round(rita: Any) -> None:
    elsewhere = "https://elsewhere.example/"
    for address in (ADDRESS, ADDRESS, elsewhere):
        rita.send_test_event_notification(
            Notification=notification(Destination=address), TestEventType="HITCreated"
        )
    tried = []

    def deaf(address: str, headers: dict[str, str], body: bytes) -> None:
        tried.append(address)
        if address == ADDRESS:
            raise events.WebhookError("The listener answered 503.")

    deliver_due(clock.now(), deaf)
    assert tried == [ADDRESS, elsewhere]


def test_a_reply_that_never_ends_is_cut_off(settings: Any, monkeypatch: Any) -> None:
    settings.MARKETPLACE_PRIVATE_WEBHOOKS = True
    monkeypatch.setattr(events, "TIMEOUT_SECONDS", 0.5)
    is_over = Signal()
    with socket.create_server(("127.0.0.1", 0)) as door:

        def drip() -> None:
            visitor, _ = door.accept()
            with visitor, suppress(OSError):
                visitor.sendall(b"HTTP/1.1 200 OK\r\nX-Letters: ")
                while not is_over.wait(0.05):
                    visitor.sendall(b"a")

        listener = Thread(target=drip, daemon=True)
        listener.start()
        try:
            with pytest.raises(events.WebhookError):
                events.send(f"http://127.0.0.1:{door.getsockname()[1]}/", {}, b"{}")
        finally:
            is_over.set()
            listener.join()


def test_a_database_that_is_away_is_looked_at_again(monkeypatch: Any, caplog: Any) -> None:
    def away(now: Any) -> None:
        raise OperationalError("the database system is starting up")

    class EnoughError(Exception):
        """Ends what would go on for ever."""

    def third_time(seconds: float) -> None:
        if caplog.text.count("Delivering events failed") == 3:
            raise EnoughError

    monkeypatch.setattr("marketplace.notifications.events.deliver_due", away)
    monkeypatch.setattr("marketplace.notifications.events.connections.close_all", lambda: None)
    monkeypatch.setattr("time.sleep", third_time)
    with pytest.raises(EnoughError):
        call_command(deliver_events.Command())


def test_it_is_given_up_at_last(rita: Any, later: Any) -> None:
    rita.send_test_event_notification(Notification=notification(), TestEventType="Ping")
    later(days=4)
    deaf = Listener(n_refusals=LEAST_TRIES)
    for _ in range(LEAST_TRIES):
        assert Event.objects.get().next_attempt_at
        deliver_due(clock.now(), deaf)
        later(hours=1)
    event = Event.objects.get()
    assert event.next_attempt_at is None
    assert event.delivered_at is None
