"""A snippet shows what of a passage was looked for, and where."""

import pytest

from tasks.work.reading import SNIPPET_CHARACTERS, snippet

LONG = "So it goes on and on. " * 20 + "The lamp of Carrow burnt for years. " + "And on. " * 40


def shown(text: str, query: str) -> tuple[str, list[str]]:
    """Return a snippet and the words in it that were looked for."""
    found = snippet(text, query)
    words = found["snippet"]
    return words, [words[start:end] for start, end in found["hits"]]


def test_it_begins_a_little_before_what_was_looked_for() -> None:
    words, hits = shown(LONG, "CARROW lamp")
    assert hits == ["lamp", "Carrow"]
    assert words.startswith("… ")
    assert words.endswith(" …")
    assert len(words) <= SNIPPET_CHARACTERS + 4


@pytest.mark.parametrize(
    ("text", "query", "hits"),
    [
        ("The lamp and the lamps, a clamp.", "lamp", ["lamp", "lamp"]),
        ("يقع الميناء القديم", "الميناء", ["الميناء"]),
        ("وصل إلى المَدِينَةِ القديمة", "المدينه", ["المَدِينَةِ"]),
        ("وفيه بيت في برلين", "في", ["في"]),
        ("Le café est là.", "cafe", ["café"]),
        ("三省堂書店は古い。", "書店", ["書店"]),
        ("A 𝒜 lamp.", "lamp", ["lamp"]),
        ("Nothing here.", "lamp", []),
        ("A (b) c.", "( .* )", []),
    ],
)
def test_words_are_found_where_they_begin_in_any_script(
    text: str, query: str, hits: list[str]
) -> None:
    assert shown(text, query) == (text, hits)
