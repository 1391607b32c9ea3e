"""Links, choices and passages: picked from what the page offered."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.work.widgets import choice, links, passages
from tasks.work.widgets.tests.junk import are_sentences, values

TITLES = ["Zürich", "Basel"]


def test_it_keeps_the_order_of_picking_and_drops_twins() -> None:
    assert links.clean(["Basel", "Zürich", "Basel"], TITLES) == (["Basel", "Zürich"], [])


def test_it_refuses_a_link_of_another_paragraph_and_keeps_the_rest() -> None:
    picked, [problem] = links.clean(["Basel", "Bern"], TITLES)
    assert picked == ["Basel"]
    assert problem.field == "links"


@given(values | st.lists(values | st.sampled_from(TITLES)))
def test_links_never_raise_on_junk(raw: object) -> None:
    picked, problems = links.clean(raw, TITLES)
    assert set(picked) <= set(TITLES)
    assert are_sentences(problems)


def test_a_choice_may_wait_until_it_is_required() -> None:
    request = "Choose yes or no."
    assert choice.clean(None, ("yes", "no"), field="yes_no", request=request) == (None, [])
    _, [problem] = choice.clean("", ("yes",), field="yes_no", request=request, required=True)
    assert problem.message == request


@given(values)
def test_a_choice_is_one_of_those_offered(raw: object) -> None:
    chosen, problems = choice.clean(raw, ("yes", "no"), field="yes_no", request="Choose one.")
    assert chosen in ("yes", "no", None)
    assert are_sentences(problems)


@given(values | st.sampled_from(TITLES))
def test_a_passage_is_one_of_the_page_s(raw: object) -> None:
    found, problems = passages.clean(raw, TITLES)
    assert (found in TITLES) == (not problems)
    assert are_sentences(problems)
