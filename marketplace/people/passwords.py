"""Signing in without the personal link: a name and a password that a worker chose."""

from django.contrib.auth.hashers import check_password, make_password
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from marketplace.models import Worker
from marketplace.models.identifiers import digest, new_secret
from marketplace.models.workers import sign_in_name_of
from marketplace.router import DATABASE

SHORTEST = 10
LONGEST = 200
LONGEST_NAME = 80


class PasswordError(ValueError):
    """The name or password cannot be had; the message says what to change."""


def typed_name(text: str) -> str:
    """Return a name without needless blanks; raises PasswordError if it is empty or too long.

    Some letters become many in the form in which names are compared: these count.
    """
    name = " ".join(text.replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME or len(sign_in_name_of(name)) > 2 * LONGEST_NAME:
        raise PasswordError(_("Write a name of 1 to %(most)s characters.") % {"most": LONGEST_NAME})
    return name


def choose_password(worker: Worker, name: str, password: str) -> None:
    """Let the worker sign in by this name and password from now on.

    Raises PasswordError for a name that is taken or too long, and for a short password.
    """
    name = typed_name(name)
    if not SHORTEST <= len(password) <= LONGEST:
        raise PasswordError(
            _("Choose a password of %(least)s to %(most)s characters.")
            % {"least": SHORTEST, "most": LONGEST}
        )
    if sign_in_name_of(password) == sign_in_name_of(name):
        raise PasswordError(_("Choose a password that is not your name."))
    worker.sign_in_name, worker.password = sign_in_name_of(name), make_password(password)
    try:
        with transaction.atomic(using=DATABASE):
            worker.save(update_fields=["sign_in_name", "password"])
    except IntegrityError:
        raise PasswordError(_("This name is taken. Choose another one.")) from None


def worker_by_password(name: str, password: str) -> Worker | None:
    """Return the worker of this name and password; an unknown name takes as long as a wrong one."""
    worker = Worker.objects.filter(sign_in_name=sign_in_name_of(name)).exclude(password="").first()
    if worker is None:
        make_password(password)
        return None
    return worker if check_password(password, worker.password) else None


def renew_link(worker: Worker) -> str:
    """Return the token of a new personal link; the one before stops working."""
    token = new_secret()
    worker.link_digest = digest(token)
    worker.save(update_fields=["link_digest"])
    return token
