"""Tokens are cut with their places, and counted alike."""

from hypothesis import given
from hypothesis import strategies as st

from collector.ingest.tokens import n_tokens, tokens


def test_tokens_have_places_and_white_space_is_none() -> None:
    text = "Ada's  notes,\nread."
    assert [text[start:end] for start, end in tokens(text, "en")] == [
        *("Ada", "'s", "notes", ",", "read", ".")
    ]


@given(st.text())
def test_as_many_are_counted_as_are_cut(text: str) -> None:
    assert n_tokens(text, "en") == len(tokens(text, "en"))
