"""What requesters and the marketplace have written to a worker, and what the worker wrote."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_safe

from common.sent_form import form_key
from marketplace import clock
from marketplace.configuration import requesters_see_mail
from marketplace.hits.acceptance import RAISED_WITHIN
from marketplace.hits.reasons import kinds_opened_by
from marketplace.models import Assignment, Message, Requester
from marketplace.models.identifiers import new_entity_id
from marketplace.notifications.messages import OPENING, MessageError, send_message, translated
from marketplace.people.requirements import record_of
from marketplace.site.work_views import own_assignment
from marketplace.web.pages import PageError, first_or_error
from marketplace.web.worker_pages import SignedInRequest, leave_notice, show, worker_page

PAGE_SIZE = 25
# Who wrote or reads a message is named as on the HIT or the qualification that it is about.
ABOUT = ("requester", "about__hit__hit_type__requester", "qualification_type__requester")
NO_MESSAGE = gettext_noop("There is no such message.")


@worker_page
@require_safe
def messages(request: SignedInRequest) -> HttpResponse:
    """Show the messages both ways, newest first; those shown count as read from then on."""
    rows = Message.objects.filter(worker=request.worker).select_related(*ABOUT)
    page = Paginator(rows.order_by("-pk"), PAGE_SIZE).get_page(request.GET.get("page"))
    shown = [message.pk for message in page if not message.is_from_worker]
    opening = [
        (message, message.qualification_type)
        for message in page
        if message.qualification_type and (message.subject_message or {}).get("key") in OPENING
    ]
    if opening:
        types = [row for _message, row in opening]
        opened = kinds_opened_by(types, record_of(request.worker), clock.now())
        for message, row in opening:
            message.opened = opened[row.pk]  # type: ignore[attr-defined]
    response = show(
        request,
        "messages.html",
        here="messages",
        page=page,
        mail_is_seen=requesters_see_mail(),
        contest_days=RAISED_WITHIN.days,
    )
    Message.objects.filter(pk__in=shown, read_at=None).update(read_at=clock.now())
    return response


@worker_page
def reply(request: SignedInRequest, key: int) -> HttpResponse:
    """Write back to the requester of one of the worker's messages."""
    rows = Message.objects.filter(worker=request.worker, is_from_worker=False)
    found = first_or_error(rows.filter(pk=key).select_related(*ABOUT), NO_MESSAGE)
    if found.requester is None:
        raise PageError(NO_MESSAGE)
    named = found.about.hit.hit_type if found.about else found.qualification_type
    name = named.asked_by if named else found.requester.name
    told = translated(found.subject, found.subject_message)
    subject = told if told.startswith("Re: ") else f"Re: {told}"
    return _letter(request, found.requester, name, subject[:200], found.about, answered=found)


@worker_page
def write(request: SignedInRequest, key: int) -> HttpResponse:
    """Write to the requester of a HIT that the worker has or had."""
    assignment = own_assignment(request, key)
    kind = assignment.hit.hit_type
    return _letter(request, kind.requester, kind.asked_by, kind.title, assignment)


def _letter(
    request: SignedInRequest,
    requester: Requester,
    name: str,
    subject: str,
    about: Assignment | None,
    answered: Message | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "name": name,
        "about": about,
        "answered": answered,
        "here": "messages",
        "mail_is_seen": requesters_see_mail(),
        "address": request.path,
        "once": request.POST.get("once") or new_entity_id(),
    }
    if request.method != "POST":
        return show(request, "message.html", subject=subject, text="", problem="", **context)
    subject, text = request.POST.get("subject", ""), request.POST.get("text", "")
    try:
        key = form_key(request)
        send_message(request.worker, requester, subject, text, clock.now(), key, about)
    except MessageError as refusal:
        typed = {"subject": subject, "text": text, "problem": str(refusal)}
        return show(request, "message.html", status=400, **typed, **context)
    leave_notice(request, _("Your message to %(name)s was sent.") % {"name": name})
    return redirect("messages")
