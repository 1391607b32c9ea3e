"""What workers write to a requester: contests of rejections, and messages."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from common.sent_form import form_key
from marketplace import clock
from marketplace.desk.access import record, requester_page
from marketplace.desk.pages import leave_notice, page_of, show
from marketplace.desk.sessions import DeskRequest
from marketplace.hits.contests import (
    ContestError,
    grant_contest,
    keep_rejection,
    unanswered_contests,
)
from marketplace.hits.questions.answers import readable
from marketplace.models import Message
from marketplace.models.identifiers import new_entity_id
from marketplace.money.funds import InsufficientFundsError
from marketplace.notifications.messages import messages_to
from marketplace.web.pages import first_or_error


@requester_page
def messages(request: DeskRequest) -> HttpResponse:
    """Show the contests that wait and the messages, newest first; those shown count as read."""
    page = page_of(request, messages_to(request.requester))
    contests = [
        (contest, readable(contest.assignment.answer))
        for contest in unanswered_contests(request.requester)[:50]
    ]
    shown = [message.pk for message in page]
    once = new_entity_id()
    response = show(
        request, "messages.html", here="messages", page=page, contests=contests, once=once
    )
    Message.objects.filter(pk__in=shown, read_at=None).update(read_at=clock.now())
    return response


@requester_page
@require_POST
def settle_contest(request: DeskRequest, key: int) -> HttpResponse:
    """Approve contested work after all, or keep the rejection with an answer to the worker."""
    contest = first_or_error(
        unanswered_contests(request.requester).filter(pk=key),
        "This contest is settled already, or is not yours.",
    )
    assignment_id = contest.assignment.assignment_id
    try:
        if "approve" in request.POST:
            grant_contest(contest, clock.now())
            record(request, f"Approved the contested assignment {assignment_id}")
            leave_notice(request, "The work is approved and will be paid.")
        else:
            keep_rejection(contest, request.POST.get("answer", ""), clock.now())
            record(request, f"Kept the rejection of the assignment {assignment_id}")
            leave_notice(request, "The rejection stays, and the worker reads your answer.")
    except (ContestError, InsufficientFundsError) as error:
        leave_notice(request, str(error))
    return redirect("desk-messages")


@requester_page
@require_POST
def reply(request: DeskRequest, key: int) -> HttpResponse:
    """Answer a worker's message; it appears among their messages."""
    found = first_or_error(
        messages_to(request.requester).filter(pk=key),
        "There is no such message to you. Choose one from the list.",
    )
    text = request.POST.get("text", "").replace("\x00", "").strip()
    if not 1 <= len(text) <= 4096:
        leave_notice(request, "Write an answer of 1 to 4096 characters.")
        return redirect("desk-messages")
    _reply, is_new = Message.objects.get_or_create(
        worker=found.worker,
        form_key=form_key(request),
        defaults={
            "requester": request.requester,
            "about": found.about,
            "subject": f"Re: {found.subject}"[:200],
            "text": text,
            "sent_at": clock.now(),
        },
    )
    if is_new:
        record(request, f"Answered a message of worker {found.worker.worker_id}")
    leave_notice(request, "Your answer is among the worker's messages.")
    return redirect("desk-messages")
