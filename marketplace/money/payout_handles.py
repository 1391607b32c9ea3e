"""Where workers want their money: entered by themselves, checked as far as a form can."""

import re
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from marketplace.models import PayoutLine, PayoutWay, Worker, WorkerProfile
from marketplace.money.payments_made import PayoutError
from marketplace.money.payout_lists import OPEN
from marketplace.people.roster import MAIL
from marketplace.router import DATABASE

LONGEST_NAME = 80
IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)
# E.164: a country's number and the rest, fifteen digits at most.
PHONE = re.compile(r"\+[1-9]\d{6,14}", re.ASCII)


def choose_way(worker: Worker, way: str, handle: str, name: str, now: datetime) -> bool:
    """Keep how the worker is to be paid; an empty way takes it back.

    Returns whether a payment on a list still goes where they said before, as the host may have the
    file already; one for which they had said nothing goes where they say now. Raises PayoutError
    with a sentence on what to mend.
    """
    if way and way not in PayoutWay.values:
        raise PayoutError(_("Choose one of the ways."))
    name = " ".join(name.replace("\x00", "").split())
    if len(name) > LONGEST_NAME:
        raise PayoutError(
            _("The name is longer than %(most)s characters.") % {"most": LONGEST_NAME}
        )
    if way and not name:
        raise PayoutError(_("Write your name as your bank or PayPal has it."))
    kept = {
        "payout_way": way,
        "payout_to": _checked(way, handle) if way else "",
        "payout_name": name if way else "",
    }
    with transaction.atomic(using=DATABASE):
        # A list that is made meanwhile has either all of it or nothing.
        Worker.objects.select_for_update().get(pk=worker.pk)
        WorkerProfile.objects.update_or_create(worker=worker, defaults=kept)
        lines = PayoutLine.objects.filter(OPEN, worker=worker)
        said = {"pay_by": way, "pay_to": kept["payout_to"], "pay_name": kept["payout_name"]}
        if way:
            lines.filter(handle_at=None).update(handle_at=now, **said)
        return lines.filter(handle_at__isnull=False).exclude(**said).exists()


def _checked(way: str, handle: str) -> str:
    """Return what was typed as files have it; raises PayoutError for what cannot be right."""
    if way == PayoutWay.IBAN:
        iban = re.sub(r"\s", "", handle).upper()
        if IBAN.fullmatch(iban) is None or not _check_digits_fit(iban):
            raise PayoutError(
                _("This is no IBAN: a letter or digit is wrong or missing. Copy it from your bank.")
            )
        return iban
    if way == PayoutWay.PHONE:
        phone = re.sub(r"[\s()/.-]", "", handle)
        if PHONE.fullmatch(phone) is None:
            raise PayoutError(_("Write the phone number with its country, like +49 170 1234567."))
        return phone
    mail = handle.strip().lower()
    if MAIL.fullmatch(mail) is None or len(mail) > 254:
        raise PayoutError(_("Write a whole mail address, like ada@example.org."))
    return mail


def _check_digits_fit(iban: str) -> bool:
    """Return whether an IBAN's two check digits are those of the rest (ISO 13616, ISO 7064)."""
    moved = iban[4:] + iban[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1
