"""Tokens are Django's, made with less work."""

import pytest
from django.conf import settings
from django.core import signing

from tasks.models import Lease
from tasks.pages.tokens import LEASE_SALT, Signer, lease_token

pytestmark = pytest.mark.pure


def test_django_reads_what_is_signed_here_and_the_other_way_round() -> None:
    assert signing.loads(lease_token(Lease(pk=7, worker_id="Wé")), salt=LEASE_SALT) == [7, "Wé"]
    signer = Signer(settings.SECRET_KEY, LEASE_SALT)
    assert signer.unsign_object(signing.dumps([7, "Wé"], salt=LEASE_SALT)) == [7, "Wé"]


def test_another_secret_salt_or_value_is_refused() -> None:
    token = lease_token(Lease(pk=7, worker_id="W"))
    for signer, given in (
        (Signer("another", LEASE_SALT), token),
        (Signer(settings.SECRET_KEY, "another"), token),
        (Signer(settings.SECRET_KEY, LEASE_SALT), token[1:]),
    ):
        with pytest.raises(signing.BadSignature):
            signer.unsign_object(given)
