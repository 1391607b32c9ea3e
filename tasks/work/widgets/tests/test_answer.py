"""Answers as the page sends them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.work.widgets import answer
from tasks.work.widgets.tests.junk import are_sentences, junk_with

ITEMS = [
    {"id": "1", "question": "Where did Ada meet her?", "passage": {"text": "Ada met Grace."}},
    {"id": "2", "question": "When?", "passage": {"text": "Long ago 👩‍🔬."}},
]
ARTICLES = {("1", "Grace"): "Grace was in Zürich."}


def clean(*answers: dict) -> tuple[list[dict], list]:
    value, problems = answer.clean_all(
        {"answers": list(answers)}, ITEMS, lambda item, title: ARTICLES.get((item, title))
    )
    return value["answers"], problems


def mark(document: str, start: int, end: int) -> dict:
    return {"document": document, "start": start, "end": end}


def test_it_takes_spans_from_question_passage_and_article() -> None:
    sent = {
        "item": "1",
        "type": "span",
        "spans": [mark("Grace", 13, 19), mark("question", 10, 13), mark("main", 8, 13)],
        "context": [mark("Grace", 0, 19)],
    }
    [first, second], problems = clean(sent)
    assert problems == []
    assert [span["text"] for span in first["spans"]] == ["Zürich", "Ada", "Grace"]
    assert first["context"][0]["text"] == "Grace was in Zürich"
    assert second == {
        "item": "2",
        "type": None,
        "spans": [],
        "value": "",
        "unit": "",
        "yes_no": None,
        "reason": "",
        "context": [],
    }


def test_it_keeps_only_what_the_type_can_have() -> None:
    everything = {
        "item": "1",
        "spans": [mark("main", 0, 3)],
        "value": "1,250",
        "unit": "km",
        "yes_no": "no",
        "reason": "It makes no sense.",
        "context": [mark("main", 0, 3)],
    }
    kept = {
        kind: sorted(
            name
            for name, value in clean(everything | {"type": kind})[0][0].items()
            if value and name not in ("item", "type")
        )
        for kind in answer.TYPES
    }
    assert kept == {
        "span": ["context", "spans"],
        "value": ["context", "unit", "value"],
        "binary": ["context", "yes_no"],
        "none": [],
        "bad": ["reason"],
    }


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"type": "guess"}, "type"),
        ({"type": "span", "spans": [mark("Bern", 0, 2)]}, "spans"),
        ({"type": "value", "value": "many"}, "value"),
        ({"type": "binary", "yes_no": "maybe"}, "yes_no"),
        ({"type": "bad", "reason": "a" * 100_000}, "reason"),
        ({"type": "binary", "yes_no": "yes", "context": [mark("main", 5, 99)]}, "context"),
    ],
)
def test_problems_say_which_answer_and_which_field(changed: dict, field: str) -> None:
    _, [problem] = clean({"item": "2", **changed})
    assert (problem.index, problem.field) == (1, field)


def test_an_answer_to_another_hits_question_is_refused() -> None:
    answers, [problem] = clean({"item": "9", "type": "none"})
    assert [given["type"] for given in answers] == [None, None]
    assert problem.index is None


keys = ("item", "type", "spans", "value", "unit", "yes_no", "reason", "context")
answers = st.builds(
    lambda junk, item, kind: (
        (junk if isinstance(junk, dict) else {}) | {"item": item, "type": kind}
    ),
    junk_with(*keys),
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from([*answer.TYPES, None, 7]),
)


@given(
    junk_with("answers") | st.fixed_dictionaries({"answers": st.lists(answers | junk_with(*keys))})
)
def test_it_never_raises_on_junk(raw: object) -> None:
    value, problems = answer.clean_all(raw, ITEMS, lambda item, title: None)
    assert [given["item"] for given in value["answers"]] == ["1", "2"]
    assert are_sentences(problems)
