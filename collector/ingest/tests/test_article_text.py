"""An article's plain text and the places of its paragraphs agree."""

from hypothesis import given
from hypothesis import strategies as st

from collector.ingest.article_text import join_article


def test_headings_stand_before_their_paragraphs() -> None:
    joined = join_article({0: "", 1: "Name", 2: "Empty"}, [(0, "Orla is deep."), (1, "Old.")])
    assert joined.text == "Orla is deep.\nName\nOld.\nEmpty"
    assert joined.starts == [0, 19]
    assert joined.heading_starts == {1: 14, 2: 24}


@given(st.lists(st.tuples(st.integers(0, 3), st.text("aé😀 ", min_size=1, max_size=5)), max_size=8))
def test_every_paragraph_is_where_it_starts(paragraphs: list[tuple[int, str]]) -> None:
    paragraphs = sorted(paragraphs, key=lambda each: each[0])
    headings = {0: "", 1: "One", 2: "Two", 3: "Three"}
    joined = join_article(headings, paragraphs)
    for start, (_, text) in zip(joined.starts, paragraphs, strict=True):
        assert joined.text[start : start + len(text)] == text
    for position, start in joined.heading_starts.items():
        assert joined.text[start:].startswith(headings[position])
