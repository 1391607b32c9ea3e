"""How several people's answers to one question are compared, and what questions and answers are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics.supporting_facts import Reply, against, upper_bound
from annotation.protocols.hotpotqa.report import answer_type, average_precision, hits, question_type

BOTH = ((0, 0), (1, 1))
replies = st.builds(
    Reply,
    st.sampled_from(["yes", "no", "1702", "the year 1702", "Ada Harrow", ""]),
    st.sets(st.tuples(st.integers(0, 1), st.integers(0, 2))).map(tuple),
)


def test_the_best_reference_counts_for_answer_and_facts_each() -> None:
    writer = Reply("Ada Harrow", BOTH)
    others = [Reply("Ada Harrow", ((0, 0),)), Reply("Harrow", BOTH), Reply("no", ())]
    score = against(writer, others)
    assert (score.answer.em, score.facts.em, score.joint.em) == (1, 1, 1)
    only = against(writer, others[1:])
    assert (only.answer.em, only.facts.em) == (0, 1)
    assert only.joint.f1 == only.answer.f1 == pytest.approx(2 / 3)


def test_the_upper_bound_is_reached_by_whoever_agrees() -> None:
    given = [Reply("1703", ((0, 1),)), Reply("1702", BOTH), Reply("in 1702", BOTH)]
    assert against(given[0], given[1:]).answer.f1 == 0
    bound = upper_bound(given)
    assert (bound.facts.em, bound.joint.em) == (1, 0)
    assert bound.answer.prec == bound.answer.recall == 1
    with pytest.raises(ValueError, match="ask another"):
        upper_bound(given[:1])


@given(st.lists(replies, min_size=2, max_size=4))
def test_nobody_is_above_the_upper_bound(given: list[Reply]) -> None:
    score, bound = against(given[0], given[1:]), upper_bound(given)
    for part, most in zip(score, bound, strict=True):
        assert all(one <= other for one, other in zip(part, most, strict=True))


@given(st.lists(replies, min_size=2, max_size=4), st.randoms())
def test_the_upper_bound_knows_no_order(given: list[Reply], rng: object) -> None:
    shuffled = list(given)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert upper_bound(shuffled) == upper_bound(given)


@pytest.mark.parametrize(
    ("question", "word", "kind"),
    [
        (
            "Which lighthouse was lit first, Ludlight or Tern Light?",
            "which",
            "which lighthouse was",
        ),
        ("In which year was Staithby founded?", "which", "in which year was"),
        ("Are Ludlight and Tern Light both on Quarnsey?", "are", "are ludlight and"),
        ("The old keeper who was born in Staithby kept what tables?", "what", "what tables"),
        ("The harbour of Staithby was founded by whom?", "whom", "by whom"),
        ("Name the island of Marle.", "none", "name the island"),
        ("", "none", ""),
    ],
)
def test_the_question_word_that_asks_is_found(question: str, word: str, kind: str) -> None:
    assert question_type(question) == (word, kind)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("yes", "yes or no"),
        ("1702", "date"),
        ("3 May 1702", "date"),
        ("the 1980s", "other words"),
        ("1980s", "date"),
        ("four", "number"),
        ("4,120 people", "number"),
        ("Ada Harrow", "proper name"),
        ("slate", "other words"),
        ("", "other words"),
    ],
)
def test_answers_are_told_apart_by_their_form(answer: str, kind: str) -> None:
    assert answer_type(answer) == kind


def test_ranks_count_as_they_stand() -> None:
    assert average_precision([1, 2]) == 1
    assert average_precision([4, 2]) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert (hits([1, 11], 2), hits([1, 11], 10), hits([12, 11], 10)) == (0.5, 0.5, 0)
