"""What workers ask of a requester: contests, messages, qualification requests."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from common.sent_form import form_key
from marketplace import clock
from marketplace.configuration import requesters_see_mail
from marketplace.desk.batches import call_of, carry_out
from marketplace.funds import InsufficientFundsError
from marketplace.hits.acceptance import (
    ContestError,
    grant_contest,
    keep_rejection,
    unanswered_contests,
)
from marketplace.models import (
    Assignment,
    AssignmentState,
    Message,
    QualificationRequest,
    QualificationType,
)
from marketplace.models.identifiers import new_entity_id
from marketplace.notifications.messages import messages_to
from marketplace.operations.qualifications import open_requests
from marketplace.people.accounts import old_ids_of
from marketplace.people.grants import AnsweredQuestion, answered_questions
from marketplace.questions.answers import readable
from marketplace.web.desk_pages import (
    PAGE_SIZE,
    DeskRequest,
    leave_notice,
    page_of,
    record,
    requester_page,
    show,
)
from marketplace.web.pages import first_or_error
from marketplace.wire.calls import WireError


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


NO_REQUEST = "This request is answered already, or is not made to you. Choose one from the list."
NO_SCORE = "Write the score as a whole number, like 1 or 85."
NO_REASON = "Say in 1 to 1000 characters why not; the worker reads it."
LONGEST_REASON = 1000
# As the model's Integer.
LEAST, MOST = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class Line:
    """One request, its test in words, and what the worker has done for this requester."""

    row: QualificationRequest
    test: list[AnsweredQuestion]
    n_approved: int
    n_rejected: int


@requester_page
@require_safe
def qualification_requests(request: DeskRequest) -> HttpResponse:
    """Show the requests that wait, the oldest first, of all types or of the one of `?type=`."""
    rows = open_requests(request.requester)
    types = QualificationType.objects.filter(requests__in=rows).annotate(n=Count("requests"))
    picked = next((row for row in types if str(row.pk) == request.GET.get("type")), None)
    shown = rows.filter(qualification_type=picked) if picked else rows
    page = page_of(request, shown.select_related("worker__profile", "qualification_type"))
    return show(
        request,
        "qualification_requests.html",
        here="qualification-requests",
        page=page,
        lines=_lines(request, page),
        types=sorted(types, key=lambda row: row.name.lower()),
        picked=picked,
        kept=f"type={picked.pk}" if picked else "",
        n_all=rows.count(),
        shows_mail=requesters_see_mail(),
    )


def _lines(request: DeskRequest, page: Iterable[QualificationRequest]) -> list[Line]:
    found = list(page)
    mine = Assignment.objects.filter(
        hit__requester=request.requester, worker__in=[row.worker_id for row in found]
    )
    by_worker = mine.values_list("worker").annotate(
        n_approved=Count("pk", filter=Q(state=AssignmentState.APPROVED)),
        n_rejected=Count("pk", filter=Q(state=AssignmentState.REJECTED)),
    )
    counts = {worker: numbers for worker, *numbers in by_worker}
    return [
        Line(row, answered_questions(row.test, row.answer), *counts.get(row.worker_id, (0, 0)))
        for row in found
    ]


@requester_page
@require_POST
def settle(request: DeskRequest, key: int) -> HttpResponse:
    """Grant one request with a score, or decline it with a reason."""
    row = first_or_error(_open(request, [str(key)]), NO_REQUEST)
    name, worker_id = row.qualification_type.name, row.worker.worker_id
    # The log is the host's too, the notice is the requester's.
    who = old_ids_of(row.qualification_type.requester_id, [worker_id]).get(worker_id, worker_id)
    if "decline" in request.POST:
        reason = request.POST.get("reason", "").replace("\x00", "").strip()
        if not 1 <= len(reason) <= LONGEST_REASON:
            leave_notice(request, NO_REASON)
        elif _decided(request, "RejectQualificationRequest", row, Reason=reason):
            record(request, f"Declined to give “{name}” to worker {worker_id}")
            leave_notice(request, f"Declined. {who} reads your reason.")
        return _back(request)
    score = _score(request)
    if score is None:
        leave_notice(request, NO_SCORE)
    elif _decided(request, "AcceptQualificationRequest", row, IntegerValue=score):
        record(request, f"Gave “{name}” with score {score} to worker {worker_id}")
        leave_notice(request, f"{who} has “{name}” now, with score {score}.")
    return _back(request)


@requester_page
@require_POST
def grant_shown(request: DeskRequest) -> HttpResponse:
    """Grant all requests that a page showed, with one score; those answered meanwhile stay so."""
    score = _score(request)
    if score is None:
        leave_notice(request, NO_SCORE)
        return _back(request)
    n_granted = 0
    for row in _open(request, request.POST.getlist("shown")[:PAGE_SIZE]):
        if _decided(request, "AcceptQualificationRequest", row, IntegerValue=score):
            name, worker_id = row.qualification_type.name, row.worker.worker_id
            record(request, f"Gave “{name}” with score {score} to worker {worker_id}")
            n_granted += 1
    leave_notice(request, f"{n_granted} granted with score {score}.")
    return _back(request)


def _open(request: DeskRequest, keys: list[str]) -> QuerySet[QualificationRequest]:
    rows = open_requests(request.requester).select_related("worker", "qualification_type")
    return rows.filter(pk__in=[int(key) for key in keys if key.isdecimal() and len(key) < 18])


def _decided(request: DeskRequest, name: str, row: QualificationRequest, **more: object) -> bool:
    """Carry out a decision through the API's own operation; False if it was refused."""
    call = call_of(request, request.requester)
    try:
        carry_out(call, name, {"QualificationRequestId": row.request_id, **more})
    except WireError as error:
        leave_notice(request, error.message)
        return False
    return True


def _score(request: DeskRequest) -> int | None:
    try:
        score = int(request.POST.get("score", "").strip()[:20])
    except ValueError:
        return None
    return score if LEAST <= score <= MOST else None


def _back(request: DeskRequest) -> HttpResponse:
    picked = request.POST.get("type", "")
    query = f"?type={picked}" if picked.isdecimal() else ""
    return redirect(reverse("desk-qualification-requests") + query)
