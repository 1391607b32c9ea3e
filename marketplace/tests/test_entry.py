"""The frame's address and its signature, to the letter that requesters check."""

import pytest

from marketplace.questions.question import Entry, entry_signature, entry_url, preview_url

pytestmark = pytest.mark.pure

ENTRY = Entry("3ASSIGNMENT", "3HIT", "AWORKER", "http://127.0.0.1:1/accepted/s", 1_800_000_000)


def test_the_signature_is_the_documented_one() -> None:
    # printf '3ASSIGNMENT\n3HIT\nAWORKER\n1800000000' | openssl dgst -sha256 -hmac secret
    expected = "cd1d40629f8ce03c1e36d394a3cdbdacc79d0a0b5a7e893630dfcc4668187987"
    assert entry_signature("secret", ENTRY) == expected


def test_every_signed_part_counts() -> None:
    from dataclasses import replace

    changed = [
        replace(ENTRY, assignment_id="3OTHER"),
        replace(ENTRY, hit_id="3OTHER"),
        replace(ENTRY, worker_id="AOTHER"),
        replace(ENTRY, expires=1),
    ]
    signatures = {entry_signature("secret", entry) for entry in [ENTRY, *changed]}
    assert len(signatures | {entry_signature("another", ENTRY)}) == 6


def test_a_query_and_a_fragment_stay() -> None:
    url = entry_url("https://a.example/t?x=1&y=%20#part", "secret", ENTRY)
    assert url.startswith("https://a.example/t?x=1&y=%20&assignmentId=3ASSIGNMENT&hitId=3HIT")
    assert "&turkSubmitTo=http%3A%2F%2F127.0.0.1%3A1%2Faccepted%2Fs&entryExpires=1800000000&" in url
    assert url.endswith("#part")


def test_a_preview_knows_no_worker() -> None:
    assert preview_url("https://a.example", "3HIT") == (
        "https://a.example/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3HIT"
    )
