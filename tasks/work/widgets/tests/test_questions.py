"""Questions as the page sends them."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.work.widgets import questions
from tasks.work.widgets.tests.junk import are_sentences, junk_with

ITEMS = [
    {"id": "1", "text": "Ada met Grace in Zürich.", "links": [{"title": "Zürich"}]},
    {"id": "2", "text": "لندن 👩‍🔬 مدينة.", "links": [{"title": "لندن"}]},
]


def written(**changed: object) -> dict:
    question = {"item": "1", "text": "Whom did Ada meet?", "context": [], "links": ["Zürich"]}
    return {"questions": [question | {"context": [{"start": 0, "end": 13}]} | changed]}


def test_it_gives_a_question_with_the_words_of_its_evidence() -> None:
    value, problems = questions.clean(written(), ITEMS, most_questions=10)
    assert problems == []
    assert value["questions"] == [
        {
            "item": "1",
            "text": "Whom did Ada meet?",
            "context": [{"document": "main", "start": 0, "end": 13, "text": "Ada met Grace"}],
            "links": ["Zürich"],
        }
    ]


def test_an_unfinished_question_is_kept_unfinished() -> None:
    sent = {"questions": [{"item": "2", "text": ""}]}
    value, problems = questions.clean(sent, ITEMS, most_questions=10)
    assert value["questions"] == [{"item": "2", "text": "", "context": [], "links": []}]
    assert problems == []


def test_problems_say_which_question_and_which_field() -> None:
    sent = written()["questions"] + written(links=["لندن"], text="a" * 100_000)["questions"]
    _, problems = questions.clean({"questions": sent}, ITEMS, most_questions=10)
    assert [(problem.index, problem.field) for problem in problems] == [(1, "text"), (1, "links")]


def test_a_question_about_another_hits_paragraph_is_left_out() -> None:
    value, [problem] = questions.clean(written(item="9"), ITEMS, most_questions=10)
    assert value == {"questions": []}
    assert (problem.index, problem.field) == (0, "item")


def test_markup_in_a_question_is_text() -> None:
    value, problems = questions.clean(written(text="<script>?</script>"), ITEMS, most_questions=9)
    assert value["questions"][0]["text"] == "<script>?</script>"
    assert problems == []


keys = ("item", "text", "context", "links")


@given(
    junk_with("questions")
    | st.fixed_dictionaries({"questions": st.lists(junk_with(*keys), max_size=30)})
    | st.builds(
        lambda changed: written(**changed),
        st.dictionaries(st.sampled_from(keys), st.none() | junk_with("start", "end")),
    )
)
def test_it_never_raises_on_junk(raw: object) -> None:
    value, problems = questions.clean(raw, ITEMS, most_questions=10)
    assert all(question["item"] in ("1", "2") for question in value["questions"])
    assert are_sentences(problems)
