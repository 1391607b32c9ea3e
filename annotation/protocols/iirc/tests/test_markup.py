"""Deleting the tags of an article leaves the text that offsets refer to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.iirc.official_files import TAG, Link, from_markup, readable, to_markup

texts = st.text(st.sampled_from("ab<>&;\"'/ 🙂\n") | st.characters(exclude_categories=["Cs"]))


@st.composite
def linked_texts(draw: st.DrawFn) -> tuple[str, list[Link]]:
    """Draw a text and sorted links in it that do not overlap."""
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [Link(draw(texts), start, end) for start, end in pairs]


@given(linked_texts())
def test_deleting_tags_gives_the_text_with_every_offset_in_place(
    linked: tuple[str, list[Link]],
) -> None:
    text, links = linked
    stripped = TAG.sub("", to_markup(text, links))
    assert stripped == readable(text)
    assert len(stripped) == len(text)
    changed = {pair for pair in zip(text, stripped, strict=True) if len(set(pair)) == 2}
    assert changed <= {("<", "＜")}


@given(linked_texts())
def test_links_are_read_back(linked: tuple[str, list[Link]]) -> None:
    text, links = linked
    assert from_markup(to_markup(text, links)) == (readable(text), tuple(links))


@given(st.lists(st.sampled_from(["<", ">", '<a href="A%20b">', "</a>", "<i>", "x"])).map("".join))
def test_reading_any_markup_deletes_what_the_official_reader_deletes(markup: str) -> None:
    text, links = from_markup(markup)
    assert text == TAG.sub("", markup)
    assert all(0 <= link.start <= link.end <= len(text) for link in links)


def test_entities_stay_as_readers_leave_them() -> None:
    assert from_markup('x &lt; <a class="k" href="A%20b">y</a>') == (
        "x &lt; y",
        (Link("A b", 7, 8),),
    )


def test_it_refuses_links_that_overlap() -> None:
    with pytest.raises(ValueError, match="'B' at 2:4 overlaps"):
        to_markup("Ada, Grace", [Link("A", 0, 3), Link("B", 2, 4)])
