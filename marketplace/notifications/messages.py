"""Messages that workers write to requesters; they carry the worker's id, never an address."""

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from marketplace.models import Assignment, Message, Requester, Worker

LONGEST_SUBJECT = 200
LONGEST_TEXT = 4096
MOST_A_DAY = 20


class MessageError(ValueError):
    """The message was not sent; the sentence says what to change."""


def send_message(
    worker: Worker,
    requester: Requester,
    subject: str,
    text: str,
    now: datetime,
    form_key: str,
    about: Assignment | None = None,
) -> Message:
    """Return the message sent to a requester, now or by the same form before; the desk shows it.

    Raises MessageError when it is empty, too long, or the worker wrote very many today.
    """
    if found := Message.objects.filter(worker=worker, form_key=form_key).first():
        return found
    subject, text = " ".join(subject.split()), text.replace("\x00", "").strip()
    if not subject or not text:
        raise MessageError(_("Write a subject and a message."))
    if len(subject) > LONGEST_SUBJECT or len(text) > LONGEST_TEXT:
        raise MessageError(
            _("Keep the subject within %(subject)s and the message within %(text)s characters.")
            % {"subject": LONGEST_SUBJECT, "text": LONGEST_TEXT}
        )
    today = Message.objects.filter(
        worker=worker, is_from_worker=True, sent_at__range=(now - timedelta(days=1), now)
    )
    if today.count() >= MOST_A_DAY:
        raise MessageError(
            _("You have sent %(most)s messages within a day. Please go on tomorrow.")
            % {"most": MOST_A_DAY}
        )
    sent, _created = Message.objects.get_or_create(
        worker=worker,
        form_key=form_key,
        defaults={
            "requester": requester,
            "is_from_worker": True,
            "about": about,
            "subject": subject,
            "text": text,
            "sent_at": now,
        },
    )
    return sent


def messages_to(requester: Requester) -> QuerySet[Message]:
    """Return what workers wrote to this requester, newest first."""
    rows = Message.objects.filter(requester=requester, is_from_worker=True)
    return rows.select_related("worker", "about__hit__hit_type").order_by("-pk")
