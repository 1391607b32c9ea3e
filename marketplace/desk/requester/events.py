"""A requester's page of events: what was sent where, how often it was tried, and again if asked."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.desk.access import record, requester_page
from marketplace.desk.pages import leave_notice, page_of, show
from marketplace.desk.visitor import DeskRequest
from marketplace.notifications.events import events_of, send_again
from marketplace.site.page_error import first_or_error


@requester_page
@require_safe
def events(request: DeskRequest) -> HttpResponse:
    """Show the requester's events, the newest first, with what became of each."""
    page = page_of(request, events_of(request.requester))
    return show(request, "events.html", here="hits", page=page)


@requester_page
@require_POST
def again(request: DeskRequest, key: int) -> HttpResponse:
    """Send an event once more, whatever became of it before."""
    event = first_or_error(
        events_of(request.requester).filter(pk=key),
        "There is no such event of yours. Choose one from the list.",
    )
    send_again(event, clock.now())
    record(request, f"Sent the event {event.document_id} again")
    leave_notice(request, f"{event.content['EventType']} is on its way to {event.destination}.")
    return redirect("desk-events")
