"""Our signature is botocore's, whatever is signed."""

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from marketplace.wire.signature import canonical_request, signature

pytestmark = pytest.mark.pure

STAMP = "20261120T093000Z"
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
def test_it_is_equal_to_botocore_s(
    headers: dict[str, str], query: list[tuple[str, str]], body: bytes, secret: str, region: str
) -> None:
    headers = headers | {"host": "127.0.0.1:8000", "x-amz-date": STAMP}
    text = "&".join(f"{key}={value}" for key, value in query)
    request = AWSRequest("POST", f"http://127.0.0.1:8000/?{text}", headers, body)
    request.context["timestamp"] = STAMP
    signer = SigV4Auth(Credentials("AKIA", secret), "mturk-requester", region)
    canonical = signer.canonical_request(request)
    assert canonical_request("POST", "/", text, list(headers.items()), body) == canonical
    expected = signer.signature(signer.string_to_sign(request, canonical), request)
    assert signature(secret, STAMP, region, "mturk-requester", canonical) == expected
