"""Spans in documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.ingest.segmentation import tokens as cut
from tasks.work.widgets import spans
from tasks.work.widgets.tests.junk import are_sentences, junk_with, scalars

TEXT = "Ada 👩‍🔬 met Grace in  Zürich."
DOCUMENTS = {"main": TEXT, "Zürich": "A city."}


def test_it_gives_back_the_words_between_code_points() -> None:
    found, problems = spans.clean([{"start": 0, "end": 7}], DOCUMENTS.get)
    assert problems == []
    assert found == [{"document": "main", "start": 0, "end": 7, "text": "Ada 👩‍🔬"}]


def test_it_trims_spaces_and_drops_twins() -> None:
    sent = [{"start": 4, "end": 8}, {"start": 4, "end": 7}]
    found, problems = spans.clean(sent, DOCUMENTS.get)
    assert problems == []
    assert [(span["start"], span["end"]) for span in found] == [(4, 7)]


def test_it_keeps_the_order_of_marking_across_documents() -> None:
    sent = [{"document": "Zürich", "start": 2, "end": 6}, {"start": 0, "end": 3}]
    found, _ = spans.clean(sent, DOCUMENTS.get)
    assert [span["text"] for span in found] == ["city", "Ada"]


@pytest.mark.parametrize(
    "entry",
    [
        {"start": 3, "end": 3},
        {"start": -1, "end": 3},
        {"start": 0, "end": len(TEXT) + 1},
        {"start": True, "end": 3},
        {"start": 0.0, "end": 3},
        {"start": 0, "end": 3, "text": "Eve"},
        {"start": 3, "end": 4},
        {"document": "Berlin", "start": 0, "end": 3},
        {"document": ["main"], "start": 0, "end": 3},
        "Ada",
    ],
)
def test_it_refuses_what_is_not_in_the_text_and_keeps_the_rest(entry: object) -> None:
    found, [problem] = spans.clean([entry, {"start": 0, "end": 3}], DOCUMENTS.get, field="context")
    assert [span["text"] for span in found] == ["Ada"]
    assert problem.field == "context"


def test_it_refuses_too_many_marks_at_once() -> None:
    sent = [{"start": 0, "end": 3}] * 9
    _, problems = spans.clean(sent, DOCUMENTS.get, most=8)
    assert [problem.message for problem in problems] == ["There are 9 marks: keep 8 or fewer."]


offsets = st.integers(min_value=-3, max_value=40) | scalars
entries = st.fixed_dictionaries(
    {"start": offsets, "end": offsets},
    optional={"document": st.sampled_from(["main", "Zürich", "Berlin"]) | scalars},
)


@given(st.lists(entries | junk_with("document", "start", "end", "text")) | junk_with("start"))
def test_every_span_lies_within_its_text(raw: object) -> None:
    found, problems = spans.clean(raw, DOCUMENTS.get)
    assert are_sentences(problems)
    for span in found:
        text = DOCUMENTS[span["document"]]
        assert 0 <= span["start"] < span["end"] <= len(text)
        assert text[span["start"] : span["end"]] == span["text"] == span["text"].strip()


@given(st.text(min_size=1), st.data())
def test_it_cleans_its_own_answer_to_itself(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    once, _ = spans.clean([{"start": start, "end": end}], {"main": text}.get)
    assert spans.clean(once, {"main": text}.get) == (once, [])


@pytest.mark.parametrize(
    ("marked", "kept"),
    [
        ("'s", "keeper's"),
        ("'s lamp", "keeper's lamp"),
        ("keeper", "keeper"),
        ("n't go", "doesn't go"),
        ("does", "doesn't"),
        ("Saltmouth (", "Saltmouth"),
        ("(built", "built"),
        ("1871)", "1871"),
        ("(built 1871)", "(built 1871)"),
        (")", None),
    ],
)
def test_a_mark_covers_whole_words_and_no_half_of_a_pair_of_brackets(
    marked: str, kept: str | None
) -> None:
    text = "Saltmouth (built 1871) has a keeper's lamp; it doesn't go out."
    tokens = [
        (start, end, any(map(str.isalnum, text[start:end]))) for start, end in cut(text, "en")
    ]
    start = text.index(marked)
    span = {"start": start, "end": start + len(marked)}
    inside = [n for n, one in enumerate(tokens) if one[0] < span["end"] and start < one[1]]
    found = spans.whole(text, tokens, inside[0], inside[-1])
    assert (found and text[tokens[found[0]][0] : tokens[found[1]][1]]) == kept
    told = [problem.message for problem in spans.partial(span, text, tokens)]
    sentence = "A mark holds part of a word or half a pair of brackets: mark whole words."
    assert told == ([] if kept == marked else [sentence])
