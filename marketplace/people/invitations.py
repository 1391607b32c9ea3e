"""Invites workers: a personal link by mail or list, a printed code, or one code for a class."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import translation
from django.utils.translation import gettext as _

from marketplace.configuration import mail_from
from marketplace.languages import ENGLISH, supported_code
from marketplace.models import ClassCode, Invitation, InvitationDelivery, QualificationType, Worker
from marketplace.models.identifiers import digest, new_secret
from marketplace.people.grants import add_members
from marketplace.router import atomic

# Neither 0 and O nor 1 and I: people read codes from paper.
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 12
CLASS_LENGTH = 8
LONGEST_NAME = 80
MOST_SEATS = 10_000


class InvitationError(ValueError):
    """The invitation cannot be made or used; the message says what to do."""


@dataclass(frozen=True)
class InvitationMail:
    """An invitation and the token of its link, which is kept nowhere."""

    invitation: Invitation
    worker: Worker
    token: str

    @property
    def code(self) -> str:
        """Return the token as it is printed: in groups of four."""
        return spaced(self.token)

    @property
    def language(self) -> str:
        """Return the language that its worker reads, English where that is not known."""
        return supported_code(self.worker.language) or ENGLISH


def new_code(length: int = CODE_LENGTH) -> str:
    """Return a random code that can be read from paper; five bits a letter."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def spaced(code: str) -> str:
    """Return a code in groups of four: `K7QM-2XWF-9PAA`."""
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4))


def normalised_code(code: str) -> str:
    """Return the code that somebody typed: case, spaces and dashes do not matter."""
    return re.sub(r"[\s–-]+", "", code).upper()


def invite(
    workers: Iterable[Worker],
    delivery: InvitationDelivery,
    by: str,
    now: datetime,
    qualification_type: QualificationType | None = None,
    value: int = 1,
) -> list[InvitationMail]:
    """Return a letter for each worker, in order; links given out before stop working.

    Expects a transaction. Closed accounts are left out.
    """
    letters = []
    for worker in workers:
        if not worker.is_active:
            continue
        token = new_code() if delivery == InvitationDelivery.PRINT else new_secret()
        waiting = Invitation.objects.filter(worker=worker, used_at=None, revoked_at=None)
        # What an unused invitation promised is promised again.
        before = waiting.exclude(qualification_type=None).order_by("-pk").first()
        waiting.update(revoked_at=now)
        worker.link_digest = digest(token)
        worker.save(update_fields=["link_digest"])
        kept = qualification_type or (before.qualification_type if before else None)
        invitation = Invitation.objects.create(
            worker=worker,
            delivery=delivery,
            qualification_type=kept,
            integer_value=value if qualification_type or not before else before.integer_value,
            made_at=now,
            made_by=by,
        )
        letters.append(InvitationMail(invitation, worker, token))
    return letters


def send(letters: Iterable[InvitationMail], base: str, now: datetime) -> tuple[int, int]:
    """Mail each letter to its worker; returns how many went out and how many did not.

    Never inside a transaction. Each outcome is kept on its invitation, so that those that failed
    can be sent again.
    """
    from django.core.mail import get_connection

    n_sent = n_failed = 0
    connection = get_connection(fail_silently=False)
    for letter in letters:
        failure = _send_one(letter, base, connection)
        letter.invitation.failure = failure
        letter.invitation.sent_at = None if failure else now
        letter.invitation.save(update_fields=["failure", "sent_at"])
        n_sent, n_failed = n_sent + (not failure), n_failed + bool(failure)
    return n_sent, n_failed


def _send_one(letter: InvitationMail, base: str, connection: object) -> str:
    from django.core.mail import EmailMessage

    profile = getattr(letter.worker, "profile", None)
    if profile is None or not profile.mail:
        return "No mail address is known. Add one, or hand the link over another way."
    subject, text = _words_of(letter, base)
    mail = EmailMessage(subject, text, mail_from(), [profile.mail])
    mail.connection = connection  # type: ignore[assignment]
    try:
        mail.send()
    except Exception as error:
        # Mail servers fail in many ways; each leaves the invitation to be sent again.
        return f"The mail server refused: {error}"[:300]
    return ""


def _words_of(letter: InvitationMail, base: str) -> tuple[str, str]:
    """Return subject and text of an invitation's mail, in its worker's language."""
    with translation.override(letter.language):
        paragraphs = (
            _("Hello %(name)s,") % {"name": letter.worker.display_name},
            _("you are invited to work on HITs. This is your personal link:"),
            link_of(letter.token, base),
            _("It signs you in whenever you open it, so keep it and do not pass it on."),
        )
        return _("Your personal link"), "\n\n".join(paragraphs) + "\n"


def link_of(token: str, base: str) -> str:
    """Return the personal link of a token at the marketplace's own address."""
    return f"{base}/enter/{token}/"


def mark_used(worker: Worker, now: datetime) -> None:
    """Note that a worker came in by their link, and grant what the invitation promised."""
    waiting = Invitation.objects.filter(worker=worker, used_at=None, revoked_at=None)
    for invitation in waiting.select_related("qualification_type"):
        with atomic():
            if not waiting.filter(pk=invitation.pk).update(used_at=now):
                continue
            row = invitation.qualification_type
            if row is not None and row.deleted_at is None:
                add_members(row, [worker], now, invitation.integer_value)


def revoke(invitation: Invitation, now: datetime) -> None:
    """End a worker's link, whichever invitation made it, and every sign-in made by it."""
    worker = invitation.worker
    with atomic():
        worker.link_digest = None
        worker.save(update_fields=["link_digest"])
        worker.sessions.all().delete()
        worker.invitations.filter(revoked_at=None).update(revoked_at=now)


def make_class_code(
    label: str,
    n_seats: int,
    days: int,
    by: str,
    now: datetime,
    qualification_type: QualificationType | None = None,
) -> ClassCode:
    """Return a code with which this number of people can join, for this number of days.

    Raises InvitationError, also for the label of a code that is good yet: a form sent twice.
    """
    label = " ".join(label.replace("\x00", "").split())
    if not 1 <= len(label) <= LONGEST_NAME:
        raise InvitationError(f"Write a name of 1 to {LONGEST_NAME} characters.")
    if not (1 <= n_seats <= MOST_SEATS and 1 <= days <= 365):
        raise InvitationError(f"Give 1 to {MOST_SEATS} seats, for 1 to 365 days.")
    if ClassCode.objects.filter(label=label, revoked_at=None, expires_at__gt=now).exists():
        raise InvitationError(f"There is a code for {label} already. Give this one another name.")
    return ClassCode.objects.create(
        code=new_code(CLASS_LENGTH),
        label=label,
        n_seats=n_seats,
        qualification_type=qualification_type,
        made_at=now,
        made_by=by,
        expires_at=now + timedelta(days=days),
    )


def class_code_of(code: str, now: datetime) -> ClassCode | None:
    """Return the class code that can still be joined with, seats or none left."""
    rows = ClassCode.objects.filter(code=normalised_code(code), revoked_at=None, expires_at__gt=now)
    return rows.first()


def take_seat(found: ClassCode, name: str, now: datetime) -> InvitationMail:
    """Return a new worker with a seat and a personal link; raises InvitationError when full."""
    name = " ".join(name.replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        sentence = _("Write a name of 1 to %(most)s characters.")
        raise InvitationError(sentence % {"most": LONGEST_NAME})
    with atomic():
        free = ClassCode.objects.filter(
            pk=found.pk, n_taken__lt=F("n_seats"), revoked_at=None, expires_at__gt=now
        )
        if not free.update(n_taken=F("n_taken") + 1):
            raise InvitationError(
                _("Every place of this code is taken. Ask the person who gave it to you.")
            )
        token = new_secret()
        worker = Worker.objects.create(display_name=name, link_digest=digest(token), created_at=now)
        invitation = Invitation.objects.create(
            worker=worker,
            delivery=InvitationDelivery.CLASS,
            class_code=found,
            qualification_type=found.qualification_type,
            integer_value=found.integer_value,
            made_at=now,
            made_by=found.made_by,
        )
        mark_used(worker, now)
    return InvitationMail(invitation, worker, token)
