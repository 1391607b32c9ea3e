"""Whatever the page shows, what a simulated worker types can be handed in."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.protocols.iirc import checks, simulated
from annotation.protocols.iirc.replay import joined
from annotation.protocols.iirc.tests.pages import (
    LIMITS,
    answer_pages,
    opened_articles,
    question_pages,
    seeded,
)
from collector.protocols.loading import get_protocol
from tasks.simulation.behaviour import BEHAVIOURS, DILIGENT
from tasks.work.widgets import answer as answer_widget
from tasks.work.widgets import questions as questions_widget

PARAMETERS = get_protocol("iirc").parameters()
behaviours = st.sampled_from(sorted(BEHAVIOURS.values(), key=lambda one: one.name))


def blocking(kind: str, data: Any, items: list[dict[str, Any]]) -> list[str]:
    found = checks.problems(kind, data, items, PARAMETERS.stages()[kind], PARAMETERS)
    return [problem.message for problem in found if not problem.hint]


@settings(max_examples=80, deadline=None)
@given(question_pages(), behaviours, st.integers(0, 99))
def test_questions_can_always_be_handed_in(page: Any, behaviour: Any, number: int) -> None:
    data = simulated.fill(page, behaviour, seeded(number), lambda item, title: None)
    cleaned, problems = questions_widget.clean(
        data,
        page["items"],
        most_questions=LIMITS["questions"],
        most_characters=LIMITS["max_question_characters"],
    )
    assert [problem.message for problem in problems] == []
    assert blocking("question", cleaned, page["items"]) == []
    for question in cleaned["questions"]:
        text = page["items"][int(question["item"])]["text"]
        for span in question["context"]:
            assert span["text"] == text[span["start"] : span["end"]]


@settings(max_examples=80, deadline=None)
@given(answer_pages(), opened_articles(), behaviours, st.integers(0, 99))
def test_answers_can_always_be_handed_in(
    page: Any, articles: Any, behaviour: Any, number: int
) -> None:
    def text_of(item: str, title: str) -> str | None:
        return joined(articles[title]) if title in articles else None

    data = simulated.fill(page, behaviour, seeded(number), lambda item, title: articles.get(title))
    cleaned, problems = answer_widget.clean_all(data, page["items"], text_of)
    assert [problem.message for problem in problems] == []
    assert blocking("answer", cleaned, page["items"]) == []


@settings(max_examples=30, deadline=None)
@given(answer_pages(), opened_articles())
def test_careful_readers_of_one_question_agree(page: Any, articles: Any) -> None:
    careful = type(DILIGENT)("careful")
    given_answers = [
        simulated.fill(page, careful, seeded(number), lambda item, title: articles.get(title))
        for number in (1, 2)
    ]
    assert given_answers[0] == given_answers[1]


@settings(max_examples=20, deadline=None)
@given(question_pages(), st.integers(0, 99))
def test_the_same_worker_writes_the_same_again(page: Any, number: int) -> None:
    one, other = (
        simulated.fill(page, DILIGENT, seeded(number), lambda item, title: None) for _ in range(2)
    )
    assert one == other
