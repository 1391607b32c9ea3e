"""Opens, resets and closes the accounts of desk users."""

import secrets
from datetime import datetime

from django.db import IntegrityError

from marketplace.models import DeskUser, Requester, Role
from marketplace.router import atomic
from marketplace.web.desk_pages import end_all

SHORTEST, LONGEST = 10, 200
LONGEST_NAME = 80


class UserError(ValueError):
    """The account cannot be opened or changed; the message says what to do."""


def password_problem(name: str, password: str) -> str:
    """Return a sentence on why this password will not do, or nothing."""
    if not SHORTEST <= len(password) <= LONGEST:
        return f"Choose a password of {SHORTEST} to {LONGEST} characters."
    if password.casefold() == name.casefold():
        return "Choose a password that is not the name."
    return ""


def new_password() -> str:
    """Return a password to hand over once, some 90 bits, without letters that look alike."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(6)) for _ in range(3))


def open_user(name: str, password: str, requester: Requester | None, now: datetime) -> DeskUser:
    """Return a new desk user: of a requester, or a host when there is none.

    Raises UserError for a name that is taken, empty or too long, or a password that will not do.
    """
    name = " ".join(name.replace("\x00", "").split())
    if not 1 <= len(name) <= LONGEST_NAME:
        raise UserError(f"Write a name of 1 to {LONGEST_NAME} characters.")
    if problem := password_problem(name, password):
        raise UserError(problem)
    role = Role.HOST if requester is None else Role.REQUESTER
    user = DeskUser(name=name, role=role, requester=requester, created_at=now)
    user.set_password(password)
    try:
        with atomic():
            user.save()
    except IntegrityError:
        raise UserError(f"The name {name} is taken. Choose another one.") from None
    return user


def reset_password(user: DeskUser) -> str:
    """Return a new password of the user, who is signed out everywhere; it is shown once."""
    password = new_password()
    user.set_password(password)
    user.save(update_fields=["password"])
    end_all(user)
    return password


def close_user(user: DeskUser) -> None:
    """Keep a user out; raises UserError for the last host, or nobody could come in again."""
    others = DeskUser.objects.filter(role=Role.HOST, is_active=True).exclude(pk=user.pk)
    if user.role == Role.HOST and not others.exists():
        raise UserError("This is the last host. Make another one first.")
    user.is_active = False
    user.save(update_fields=["is_active"])
    end_all(user)
