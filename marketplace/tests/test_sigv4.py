"""What botocore has signed is accepted, whatever it is."""

from types import SimpleNamespace
from unittest import mock

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from marketplace.wire import signature

pytestmark = pytest.mark.pure

PRINTABLE = st.characters(min_codepoint=32, max_codepoint=126)
NAMES = st.from_regex(r"x-[a-z]{1,8}(-[a-z]{1,5})?", fullmatch=True)
WORDS = st.from_regex(r"[A-Za-z0-9_.~%-]{0,8}", fullmatch=True)


@given(
    headers=st.dictionaries(NAMES, st.text(PRINTABLE, max_size=30), max_size=5),
    query=st.lists(st.tuples(WORDS, WORDS), max_size=4),
    body=st.binary(max_size=60),
    secret=st.text(PRINTABLE, min_size=1, max_size=60),
    region=st.from_regex(r"[a-z]{2}-[a-z]{4}-[0-9]", fullmatch=True),
)
def test_what_botocore_signs_is_accepted(
    headers: dict[str, str], query: list[tuple[str, str]], body: bytes, secret: str, region: str
) -> None:
    text = "&".join(f"{key}={value}" for key, value in query)
    url = f"http://127.0.0.1:8000/?{text}"
    signed = AWSRequest("POST", url, headers | {"host": "127.0.0.1:8000"}, body)
    SigV4Auth(Credentials("AKIA", secret), signature.SERVICE, region).add_auth(signed)
    sent = dict(signed.headers.items())
    request = RequestFactory().generic("POST", f"/?{text}", body, headers=sent)
    row = [secret, *(None for _ in signature.REQUESTER_FIELDS)]
    keys = SimpleNamespace(first=lambda key: row if key == "AKIA" else None)
    with mock.patch.object(signature, "LIVING_KEY", keys):
        assert signature.authenticate(request, body).attempt == ""
