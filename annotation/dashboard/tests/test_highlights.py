"""Tests of cutting texts at their marks."""

from hypothesis import given
from hypothesis import strategies as st

from annotation.dashboard.questions.reading import pieces, quote

SPANS = st.lists(
    st.tuples(st.integers(-3, 30), st.integers(-3, 30), st.sampled_from(["link", "evidence", "1"]))
)


@given(st.text(max_size=25), SPANS)
def test_joined_pieces_are_the_text_again(text: str, spans: list) -> None:
    assert "".join(piece.text for piece in pieces(text, spans)) == text


@given(st.text(min_size=1, max_size=25), SPANS)
def test_every_piece_bears_exactly_the_marks_that_cover_it(text: str, spans: list) -> None:
    at = 0
    for piece in pieces(text, spans):
        for offset in range(at, at + len(piece.text)):
            covering = {mark for start, end, mark in spans if max(0, start) <= offset < end}
            assert set(piece.marks) == covering
        at += len(piece.text)


def test_overlapping_marks_share_a_piece() -> None:
    found = pieces("abcdef", [(0, 4, "link"), (2, 6, "evidence")])
    assert [(piece.text, piece.marks) for piece in found] == [
        ("ab", ("link",)),
        ("cd", ("link", "evidence")),
        ("ef", ("evidence",)),
    ]
    assert [piece.is_marked for piece in found] == [False, True, True]


def test_a_numbered_mark_is_evidence_and_shows_its_number_where_it_ends() -> None:
    first, second, _ = pieces("abcdef", [(0, 4, "1"), (2, 4, "2")])
    assert first.classes == "mark-evidence"
    assert first.numbers == []
    assert second.numbers == ["1", "2"]


def test_a_quote_is_cut_at_spaces() -> None:
    text = "one two three four five six seven"
    found = quote("main", text, 14, 18, around=7)
    assert (found.before, found.words, found.after) == ("… three ", "four", " five …")
    whole = quote("main", text, 0, 3, around=100)
    assert (whole.before, whole.after) == ("", text[3:])
