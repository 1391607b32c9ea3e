"""Every page that is not work: what happened, what is kept, and what to do next."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse

from collector.models import Stage
from collector.protocols.creation import parameters_of
from tasks.models import PostingState, ReceiptState, Session, Submission
from tasks.pages.wording import price
from tasks.pages.work_page import preferences_asked_for
from tasks.people.qualifications import roles_required
from tasks.work.submissions import other_of

RETURN = "Return the HIT with the button above; it costs you nothing."


def notice(
    request: HttpRequest,
    title: str,
    message: str,
    *,
    next_step: str = "",
    status: int = 200,
    form: dict[str, object] | None = None,
) -> HttpResponse:
    """Render a calm page with one message; `form` adds the one button that hands work back."""
    return render(
        request,
        "hits/notice.html",
        {
            "title": title,
            "message": message,
            "next": next_step,
            "form": form,
            "state": {"preferences": preferences_asked_for(request.GET or request.POST)},
        },
        status=status,
    )


def unreadable(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Say that what a form sent was more than can be read, or was not whole."""
    return notice(
        request,
        "This could not be read",
        "What your browser sent was incomplete or too large, so nothing was changed. "
        "Go back and try again with less.",
        status=413 if isinstance(exception, RequestDataTooBig) else 400,
    )


def cannot_be_shown(request: HttpRequest) -> HttpResponse:
    """Say that the server cannot show this work just now; nothing was changed."""
    sentence = "The server cannot show this work just now. Its requester has to look into it."
    if request.content_type == "application/json":
        return JsonResponse({"message": sentence}, status=503)
    return notice(request, "This work cannot be shown", sentence, next_step=RETURN, status=503)


def receipt_form(session: Session, receipt: str, label: str = "Continue") -> dict[str, object]:
    """Return the form that hands a HIT's receipt to the marketplace, without any work."""
    return {
        "action": f"{session.submit_url}/mturk/externalSubmit",
        "fields": {"assignmentId": session.session_id, "receipt": receipt},
        "label": label,
    }


def work_form(
    session: Session, submission: Submission, label: str = "Continue"
) -> dict[str, object]:
    """Return the form that hands finished work in; it says where the worker can read it again.

    What is paid by the worker's other work on the same unit is handed in with that one's HIT.
    """
    if submission.state == ReceiptState.APPROVED and not submission.payments.exists():
        submission = other_of(submission.lease) or submission
        session = submission.session
    form = receipt_form(session, submission.receipt, label)
    where = f"{settings.COLLECTOR_URL}{reverse('hit_sent', args=[submission.receipt])}"
    fields = {"assignmentId": session.session_id, "receipt": submission.receipt, "work": where}
    return form | {"fields": fields}


def handed_in(request: HttpRequest, session: Session, submission: Submission) -> HttpResponse:
    """Say that the work is safe and offer to send its receipt again."""
    if submission.payments.filter(posting__worker__isnull=False).exists():
        return notice(
            request,
            "Your work is saved",
            "Its receipt was lost, so you are paid by a HIT of your own: look for “Collect what "
            "you are owed” on the marketplace.",
            next_step=RETURN,
        )
    return notice(
        request,
        "Your work is saved",
        "We have everything you wrote. If the marketplace did not notice, send the receipt again.",
        form=work_form(session, submission, "Send the receipt again"),
    )


def decided(request: HttpRequest, session: Session) -> HttpResponse:
    """Say that the HIT is paid or rejected, so that nobody works on it for nothing."""
    posting = session.posting
    collection = posting.stage.collection
    verb = "paid" if posting.state == PostingState.SETTLED else "rejected"
    return notice(
        request,
        "This HIT is over",
        f"It was handed in and {verb} before: work on it now could not be paid. If that is wrong, "
        f"write to {collection.requester_name} ({collection.requester_contact}).",
        next_step="Take another HIT of this kind.",
    )


def declined(request: HttpRequest) -> HttpResponse:
    """End cleanly for somebody who does not consent."""
    return notice(
        request,
        "You decided not to take part",
        "That is fine. Nothing new is kept. What you handed in before stays and is paid.",
        next_step=RETURN,
    )


def not_qualified(request: HttpRequest, stage: Stage) -> HttpResponse:
    """Say which qualification is missing, or which of two will do, and how to get it."""
    parameters = parameters_of(stage.collection)
    tables = parameters.stages()
    table = tables[stage.name]
    names = (table.requires, *roles_required(table))
    needed = [tables[name] for name in names if name]
    titles = " or ".join(f"“{one.title}”" for one in needed)
    pays = " or ".join(price(one.reward_cents, parameters) for one in needed)
    return notice(
        request,
        "This HIT needs a qualification",
        f"It is open to people who have passed {titles}. Take that HIT first (it pays {pays}); "
        "a person reads what you hand in.",
        next_step=RETURN,
    )


def closed(request: HttpRequest, stage: Stage) -> HttpResponse:
    """Say that no new work is handed out at present."""
    return notice(
        request,
        "This task is taking a break",
        f"{stage.collection.requester_name} hands out no new work at the moment.",
        next_step=RETURN,
    )


def no_work(request: HttpRequest) -> HttpResponse:
    """Say that what is left must be done by other people."""
    return notice(
        request,
        "Nothing here for you right now",
        "What is left in this task must be done by other people: you have already seen or "
        "written something that belongs to it. New work may come.",
        next_step=RETURN,
    )


def not_held(request: HttpRequest) -> HttpResponse:
    """Say that the HIT's money is kept for the one who was at it before."""
    return notice(
        request,
        "This HIT cannot be taken right now",
        "Somebody was at it before you and may still hand in, so its pay is kept for them for a "
        "while. Nobody is to work here without pay.",
        next_step=RETURN,
    )


def compensation(request: HttpRequest, session: Session) -> HttpResponse:
    """Let the one worker who is owed something collect it."""
    posting = session.posting
    parameters = parameters_of(posting.stage.collection)
    if posting.worker_id != session.worker_id:
        return notice(
            request,
            "This HIT is for somebody else",
            "It pays one person for work that was cut short.",
            next_step=RETURN,
            status=403,
        )
    return notice(
        request,
        f"You are owed {price(posting.reward_cents, parameters)}",
        "You did work that could not be handed in. There is nothing left to do.",
        form=receipt_form(session, str(posting.token), "Collect it"),
    )
