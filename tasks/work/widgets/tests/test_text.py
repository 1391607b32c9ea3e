"""Free words."""

from hypothesis import given

from tasks.work.widgets import text
from tasks.work.widgets.tests.junk import are_sentences, values


def test_it_keeps_markup_as_text() -> None:
    assert text.clean("Is <b>Ada</b> & Grace > 2?") == ("Is <b>Ada</b> & Grace > 2?", [])


def test_it_asks_for_missing_words_only_where_they_are_required() -> None:
    assert text.clean("  \n") == ("", [])
    words, [problem] = text.clean("  ", required=True)
    assert (words, problem.message, problem.field) == ("", "Write the question.", "text")


def test_it_refuses_a_hundred_kilobytes_and_cuts_nothing() -> None:
    words, [problem] = text.clean("a" * 100_000, most_characters=500)
    assert len(words) == 100_000
    assert problem.message == "The question has 100,000 characters: shorten it to 500 or fewer."


def test_it_drops_what_nobody_can_type_and_no_database_takes() -> None:
    assert text.clean("Who\x00 \ud800led?")[0] == "Who led?"


def test_it_keeps_emoji_and_combining_marks() -> None:
    assert text.clean("Bru\u0308cke 👩‍👩‍👧?")[0] == "Bru\u0308cke 👩‍👩‍👧?"


@given(values)
def test_it_never_raises_on_junk(raw: object) -> None:
    words, problems = text.clean(raw)
    words.encode()
    assert are_sentences(problems)
