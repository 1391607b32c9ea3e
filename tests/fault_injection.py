"""What the test of injected faults does in a process of an instance."""

import time
from typing import Any

from django.core.management import call_command

# Throttled calls wait a second or so before the next try: few of them, to be quick.
WEATHER = {
    "lost_replies": 0.2,
    "throttling": 0.05,
    "duplicate_events": 0.5,
    "reordered_events": 0.3,
    "frozen_seconds": 5,
    "index_lag_seconds": 1,
    "reused_assignment_ids": True,
    "seed": 3,
}
EVENTS = ["AssignmentAccepted", "AssignmentSubmitted", "AssignmentApproved"]


def carry_out(*command: str) -> None:
    """Do what a requester would type."""
    call_command(*command)


def begin() -> None:
    """Let everything go wrong at once for Collector's requester."""
    from marketplace.fault_injection import change_faults
    from marketplace.models import Requester

    change_faults(Requester.objects.get(), WEATHER)


def listen(listener: str) -> None:
    """Have the events of the first HITs sent to an address."""
    from tasks.crowd.requester_api import call

    notification = {
        "Destination": listener,
        "Transport": "SQS",
        "Version": "2014-08-15",
        "EventTypes": EVENTS,
    }
    type_id = _first_posting().external_type
    call("update_notification_settings", HITTypeId=type_id, Notification=notification, Active=True)


def change_minds(name: str) -> str:
    """Let a worker take a HIT, agree to the terms and give it back; returns the assignment's id."""
    from django.conf import settings

    from tasks.models import Session
    from tasks.simulation.browser import Browser
    from tasks.simulation.worker import SimulatedWorker

    hit = _first_posting().external_id
    browser = Browser(settings.MARKETPLACE_URL)
    worker = SimulatedWorker(name, browser, script=lambda state, opener: {})
    worker.sign_in()
    page = worker.accept(hit)
    assert page is not None
    worker.enter(page)
    worker.give_back(page)
    browser.close()
    return str(Session.objects.get(posting__external_id=hit).session_id)


def holders(assignment_id: str) -> int:
    """Return how many people had an assignment of this id in hand."""
    from tasks.models import Session

    return Session.objects.filter(session_id=assignment_id).values("person").distinct().count()


def _first_posting() -> Any:
    from tasks.models import Posting, PostingState

    # Lost replies may put up others before: a newcomer can take none but the test.
    live = Posting.objects.filter(state=PostingState.LIVE, stage__name="question_qualification")
    until = time.monotonic() + 60
    while (found := live.first()) is None and time.monotonic() < until:
        time.sleep(0.1)
    assert found, "No HIT of the test went up within a minute."
    return found
