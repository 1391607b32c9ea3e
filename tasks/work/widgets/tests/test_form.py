"""Forms as the page sends them."""

from hypothesis import given

from collector.protocols.stage_tables import ChoiceTable, FieldTable, mistakes_of_form
from tasks.work.widgets import form
from tasks.work.widgets.tests.junk import are_sentences, junk_with

ITEMS = [{"id": "0"}, {"id": "1"}]
LABELS = [ChoiceTable(value="true"), ChoiceTable(value="فاسد", hint="wrong")]
FIELDS = [
    FieldTable(name="label", label="Is it true?", choices=LABELS),
    FieldTable(name="long_remark", label="Why?", required=False, max_characters=9),
]


def sent(*forms: dict) -> dict:
    return {"entries": [{"item": str(item), "fields": each} for item, each in enumerate(forms)]}


def test_it_gives_one_entry_for_every_item_in_the_pages_order() -> None:
    given_last_first = {"entries": sent({"label": "true"}, {"label": "فاسد"})["entries"][::-1]}
    value, problems = form.clean(given_last_first, ITEMS, FIELDS)
    assert problems == []
    assert value["entries"] == [
        {"item": "0", "fields": {"label": "true", "long_remark": ""}},
        {"item": "1", "fields": {"label": "فاسد", "long_remark": ""}},
    ]


def test_what_is_missing_wrong_or_too_long_is_said_where_it_stands() -> None:
    _, problems = form.clean(sent({"label": "maybe", "long_remark": "x" * 10}), ITEMS, FIELDS)
    assert [(problem.index, problem.message) for problem in problems] == [
        (0, "Choose the label."),
        (0, "The long remark has 10 characters: shorten it to 9 or fewer."),
        (1, "Choose the label."),
    ]


def test_what_another_field_stands_for_may_be_left_out() -> None:
    fields = [
        FieldTable(name="answer", label="The answer"),
        FieldTable(name="doubt", label="Why not?", required=False, instead_of="answer"),
    ]
    value, problems = form.clean(sent({"doubt": "It does not say."}, {"doubt": " "}), ITEMS, fields)
    assert [(problem.index, problem.field) for problem in problems] == [(1, "answer")]
    assert value["entries"][0]["fields"] == {"answer": "", "doubt": "It does not say."}
    # Itself, or a label, which is a vote.
    for stands_for in ("doubt", "label"):
        doubt = FieldTable(name="doubt", label="Why not?", instead_of=stands_for, required=False)
        [mistake] = mistakes_of_form([FIELDS[0], doubt])
        assert "no other field" in mistake.sentence


def test_an_entry_of_another_page_is_told() -> None:
    both = sent({"label": "true"}, {"label": "true"}, {"label": "true"})
    _, [problem] = form.clean(both, ITEMS, FIELDS)
    assert problem.message == "A part of this is of another HIT: reload the page."


def test_the_forms_that_somebody_has_begun_are_counted() -> None:
    assert form.n_begun(sent({"label": "true"}, {"label": None, "long_remark": " "})) == 1
    assert form.n_begun({"entries": "junk"}) == 0


@given(junk_with("entries", "item", "fields", "label"))
def test_anything_the_page_may_send_is_answered_in_sentences(raw: object) -> None:
    value, problems = form.clean(raw, ITEMS, FIELDS)
    assert [entry["item"] for entry in value["entries"]] == ["0", "1"]
    assert all(set(entry["fields"]) == {"label", "long_remark"} for entry in value["entries"])
    assert are_sentences(problems)
    assert problems
    assert form.n_begun(raw if isinstance(raw, dict) else {}) >= 0
