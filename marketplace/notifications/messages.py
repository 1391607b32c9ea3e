"""Messages to workers and from them: decisions, other words of the marketplace, letters.

The marketplace's own sentences are kept by key and shown in the reader's language. A text that may
be one has a column beside it, named after it (`reason_message` beside `reason`): the sentence's key
and what is filled in, or null for somebody else's words. The text is in English, as the API returns
it. Work that is approved in its time is no news: it shows in history and earnings. A function that
writes of a decision expects its transaction, so that both are kept or neither.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext as _

from marketplace.amounts import price_of
from marketplace.models import (
    HANDED_IN,
    HIT,
    Assignment,
    Message,
    Payout,
    QualificationType,
    Requester,
    Worker,
)

# Key and what is filled in, as the column holds them.
SystemMessage = dict[str, str]

SENTENCES = {
    "test_time_was_up": gettext_noop("The time of the test was up."),
    "test_withdrawn": gettext_noop(
        "The requester withdrew it. What you wrote is kept among your data."
    ),
    "taken_out_of_group": gettext_noop("Taken out of the group by the host."),
    "qualification_given": gettext_noop("You now have the qualification “%(name)s”"),
    "qualification_withdrawn": gettext_noop("Your qualification “%(name)s” was withdrawn"),
    "test_not_passed": gettext_noop("Not passed: %(name)s"),
    "request_declined": gettext_noop("You asked for “%(name)s”: it was declined"),
    "no_reason": gettext_noop("No reason was given."),
    "added_to_group": gettext_noop("You are in the group “%(name)s” now"),
    "out_of_group": gettext_noop("You are not in the group “%(name)s” any more"),
    "work_rejected": gettext_noop("Rejected: %(title)s"),
    "rejection_stays": gettext_noop("The rejection stays: %(title)s"),
    "approved_after_all": gettext_noop("Approved after all: %(title)s"),
    "approved_after_all_means": gettext_noop(
        "This work was rejected before. It is approved now, and its reward is yours."
    ),
    "blocked": gettext_noop("%(name)s has closed its HITs to you"),
    "blocked_means": gettext_noop(
        "You can hand in what you hold, and work you have done is decided and paid as before. If "
        "you think that this is a mistake, reply."
    ),
    "unblocked": gettext_noop("%(name)s has opened its HITs to you again"),
    "unblocked_means": gettext_noop("You find them in your list of HITs."),
    "paid": gettext_noop("%(amount)s was paid to you"),
    "paid_how": gettext_noop("On %(date)s by %(method)s, reference %(reference)s."),
    "members_of_group": gettext_noop("Members of %(name)s."),
}
# The name of the account that groups belong to; no requester has it.
HOST_ACCOUNT = gettext_noop("The host of this marketplace")


def system_message(column: str, key: str, **given: str) -> dict[str, Any]:
    """Return a sentence as the values of the column and of the one beside it.

    `given` is what the sentence has places for. Raises KeyError for a sentence that there is not.
    """
    text = SENTENCES[key] % given if given else SENTENCES[key]
    return {column: text, f"{column}_message": {"key": key, **given}}


def own_message(column: str, text: str) -> dict[str, Any]:
    """Return somebody's own words as the values of the column and of the one beside it."""
    return {column: text, f"{column}_message": None}


def translated(text: str, message: SystemMessage | None) -> str:
    """Return the marketplace's sentence in the active language, anybody else's text as it is."""
    if not message:
        return text
    sentence = gettext(SENTENCES[message["key"]])
    return sentence % message if len(message) > 1 else sentence


def account_name(name: str) -> str:
    """Return a requester's name, the host's own account's in the active language."""
    return gettext(name) if name == HOST_ACCOUNT else name


# What a message keeps of a name, so that the whole subject fits.
LONGEST_NAMED = 140
# The subjects of those that open HITs.
OPENING = ("qualification_given", "added_to_group")


def notify_of_work(
    hit: HIT, assignment: Assignment, key: str, text: dict[str, Any], now: datetime
) -> None:
    """Write what was decided about an assignment; key: of the subject; text: the columns of it.

    The person of a closed account reads it at the account that is theirs now.
    """
    merged = Worker.objects.filter(pk=assignment.worker_id).values_list("merged_into", flat=True)
    Message.objects.create(
        worker_id=merged.get() or assignment.worker_id,
        requester_id=hit.requester_id,
        about=assignment,
        sent_at=now,
        **system_message("subject", key, title=hit.hit_type.title[:LONGEST_NAMED]),
        **text,
    )


def notify_of_qualification(
    row: QualificationType, worker: Worker, key: str, text: dict[str, Any], now: datetime
) -> None:
    """Write what was decided about a qualification; key: of the subject; text: the columns of it.

    It leads to the work that was handed in for the qualification, where there is such work.
    """
    handed_in = Assignment.objects.filter(
        worker=worker,
        state__in=HANDED_IN,
        hit__requester=row.requester_id,
        hit__hit_type__keywords__contains=f"earns:{row.qualification_type_id}",
    )
    Message.objects.create(
        worker=worker,
        # Nobody reads what is answered to the account that groups belong to.
        requester=None if hasattr(row, "group") else row.requester,
        qualification_type=row,
        about=handed_in.order_by("submitted_at").last(),
        sent_at=now,
        **system_message("subject", key, name=row.name[:LONGEST_NAMED]),
        **text,
    )


def description_of(row: QualificationType) -> dict[str, Any]:
    """Return what a qualification is as the columns of a message's text."""
    return {"text": row.description, "text_message": row.description_message}


def reason_of(words: str) -> dict[str, Any]:
    """Return a reason, or that none was given, as the columns of a message's text."""
    return own_message("text", words) if words else system_message("text", "no_reason")


def notify_of_block(requester: Requester, worker: Worker, key: str, now: datetime) -> None:
    """Write that a requester's HITs are closed to the worker or open again; why stays unsaid."""
    Message.objects.create(
        worker=worker,
        requester=requester,
        sent_at=now,
        **system_message("subject", key, name=requester.name[:LONGEST_NAMED]),
        **system_message("text", f"{key}_means"),
    )


def notify_of_payment(payout: Payout) -> None:
    """Write that a payment was recorded: how much, when and by what."""
    how = {"date": payout.paid_on.isoformat(), "method": payout.method}
    Message.objects.create(
        worker=payout.worker,
        sent_at=payout.recorded_at,
        **system_message("subject", "paid", amount=price_of(payout.amount_cents)),
        **system_message("text", "paid_how", reference=payout.reference, **how),
    )


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
