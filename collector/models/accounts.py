"""Accounts of the people who run collections, and how often signing in to one may be tried."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.contrib.auth.password_validation import (
    CommonPasswordValidator,
    MinimumLengthValidator,
    UserAttributeSimilarityValidator,
    validate_password,
)
from django.core.exceptions import ValidationError
from django.db import transaction

from common.actions import ActionError
from common.rate_limit import TokenBucket


class User(AbstractUser):
    """Someone of the dataset team; workers never have one."""


class SignInTries(TokenBucket):
    """How many more tries to sign in are left, by account and address."""


VALIDATORS: Sequence[Any] = [
    MinimumLengthValidator(10),
    CommonPasswordValidator(),
    UserAttributeSimilarityValidator(),
]
LONGEST_PASSWORD = 200
# Whose account opens without a password, where that is allowed.
OWNER = "owner"


def create_account(name: str, password: str) -> User:
    """Return a new account of the dataset team; raises ActionError, and nothing is made."""
    user = User(username=name.strip())
    try:
        User._meta.get_field("username").clean(user.username, user)
    except ValidationError:
        raise ActionError(
            "Write a name of letters, digits and @ . + - _, at most 150 of them, without spaces."
        ) from None
    try:
        validate_password(password[: LONGEST_PASSWORD + 1], user, VALIDATORS)
    except ValidationError as error:
        raise ActionError(" ".join(error.messages)) from None
    if len(password) > LONGEST_PASSWORD:
        raise ActionError(f"Choose a password of at most {LONGEST_PASSWORD} characters.")
    with transaction.atomic():
        if User.objects.filter(username__iexact=user.username).exists():
            raise ActionError(f"There is an account {user.username} already: choose another name.")
        user.set_password(password)
        user.save()
    return user


def owner() -> User:
    """Return the account of this very machine, made on first use; it has no password."""
    user, made = User.objects.get_or_create(username=OWNER)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
