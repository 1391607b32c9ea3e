"""UniqueRequestToken: the same token does the same operation once within a day."""

from datetime import timedelta

from django.db import IntegrityError, transaction

from marketplace.models import IdempotencyToken
from marketplace.router import DATABASE
from marketplace.wire.registry import Call

LIFETIME = timedelta(hours=24)


class AlreadyDoneError(Exception):
    """This token was used before; `subject` is what that request made."""

    def __init__(self, subject: str) -> None:
        super().__init__(subject)
        self.subject = subject


def claim_token(call: Call, operation: str, token: str | None, subject: str) -> None:
    """Use up a token for `subject`; raises AlreadyDoneError when it was used within a day.

    Expects the transaction that makes the subject, so that both are kept or neither. Two requests
    with one token meet at the unique index: the second waits for the first and finds its subject.
    """
    if token is None:
        return
    mine = IdempotencyToken.objects.filter(
        requester=call.requester, operation=operation, token=token
    )
    mine.filter(created_at__lte=call.now - LIFETIME).delete()
    try:
        with transaction.atomic(using=DATABASE):
            IdempotencyToken.objects.create(
                requester=call.requester,
                operation=operation,
                token=token,
                subject=subject,
                created_at=call.now,
            )
    except IntegrityError:
        raise AlreadyDoneError(mine.get().subject) from None
