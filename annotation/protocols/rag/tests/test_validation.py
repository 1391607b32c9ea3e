"""A drawn question counts when a reader finds its answer, a natural one when two agree."""

import pytest

from annotation.protocols.rag.validation import Vote, short_f1, verdict, vote
from collector.protocols.loading import get_protocol

RULES = get_protocol("rag").parameters()
ONE = frozenset({("a.md", 0)})
BOTH = frozenset({("a.md", 0), ("b.md", 4)})
HANNA = Vote("answer", "Hanna Ladd", BOTH)
ONLY = Vote("answer", "Hanna Ladd", ONE)
OTHER = Vote("answer", "Corran", BOTH)
NONE, BAD = Vote("none"), Vote("bad")
WRITER = Vote("answer", "Hanna Ladd", BOTH, shown=2)
OF_ONE = Vote("answer", "Hanna Ladd", ONE, shown=1)
SEEMING = Vote("none", shown=2)


@pytest.mark.parametrize(
    ("votes", "reason", "chosen"),
    [
        ([], "waiting_for_votes", None),
        ([WRITER], "waiting_for_votes", None),
        ([HANNA], "waiting_for_votes", None),
        ([WRITER, HANNA], "agreed", 0),
        ([WRITER, ONLY], "single_passage", 0),
        ([OF_ONE, ONLY], "agreed", 0),
        ([WRITER, NONE], "not_found", None),
        ([WRITER, OTHER], "no_agreement", None),
        ([WRITER, BAD], "marked_bad", None),
        ([SEEMING, NONE], "not_in_documents", 0),
        ([SEEMING, HANNA], "answered_by_others", None),
        ([HANNA, ONLY], "readers_agree", 0),
        ([NONE, NONE], "not_in_documents", 0),
        ([HANNA, OTHER], "no_agreement", None),
        ([HANNA, NONE], "not_found", None),
        ([BAD, BAD], "marked_bad", None),
    ],
)
def test_it_counts_by_what_people_with_a_search_box_find(votes, reason, chosen):
    found = verdict(votes, RULES, "dev")
    assert (found.reason, found.chosen) == (reason, chosen)


def test_the_answer_that_most_readers_gave_is_released_whoever_came_first():
    rules = get_protocol("rag").parameters({"find.redundancy.dev": 3})
    found = verdict([OTHER, HANNA, ONLY], rules, "dev")
    assert (found.reason, found.chosen, found.agreeing) == ("readers_agree", 1, (1, 2))


def test_one_of_two_readers_may_call_a_question_bad():
    rules = get_protocol("rag").parameters({"reading.redundancy.dev": 2})
    assert verdict([WRITER, BAD, HANNA], rules, "dev").agreeing == (0, 2)
    assert verdict([WRITER, BAD, BAD], rules, "dev").reason == "marked_bad"


@pytest.mark.parametrize(
    ("votes", "reason", "sentence"),
    [
        (
            [NONE, BAD],
            "not_found",
            "no answer, and others called the question bad.",
        ),
        (
            [HANNA, BAD],
            "no_agreement",
            "found an answer; others called the question bad.",
        ),
        (
            [SEEMING, NONE, BAD],
            "no_agreement",
            "too few readers say so too.",
        ),
        ([SEEMING, HANNA, BAD], "answered_by_others", "a reader found an answer."),
        ([WRITER, HANNA, NONE], "no_agreement", "Too few readers found the writer's answer."),
    ],
)
def test_nobody_is_said_to_have_found_an_answer_who_found_none(votes, reason, sentence):
    rules = get_protocol("rag").parameters(
        {"reading.redundancy.dev": 2, "agreement.min_agreeing": 3 if votes[0].shown else 2}
    )
    found = verdict(votes, rules, "dev")
    assert found.reason == reason
    assert found.sentence.endswith(sentence)


def test_where_more_people_read_than_others_questions_get_all_of_them_count():
    assert verdict([WRITER, BAD, HANNA], RULES, "dev").agreeing == (0, 2)
    bad = verdict([WRITER, BAD, HANNA, BAD], RULES, "dev")
    assert (bad.reason, bad.sentence) == ("marked_bad", "2 of 3 readers called the question bad.")
    alone = get_protocol("rag").parameters({"find.redundancy.dev": 1})
    assert verdict([HANNA, OTHER, NONE], alone, "dev").reason == "not_found"


@pytest.mark.parametrize(
    ("one", "other", "f1"),
    [
        ("The Hanna Ladd", "hanna ladd!", 1.0),
        ("Hanna", "Hanna Ladd", 2 / 3),
        ("yes", "no", 0.0),
        ("the", "The", 1.0),
        ("三省堂書店", "三省堂", 2 / 3),
        ("", "Hanna", 0.0),
    ],
)
def test_short_answers_agree_by_the_words_they_share(one, other, f1):
    assert short_f1(one, other) == pytest.approx(f1)


def test_a_vote_knows_its_passages_and_what_its_writer_was_shown():
    piece = {"document": "a.md", "paragraph": 0, "start": 0, "end": 2, "text": "It"}
    payload = {"short": "Hanna", "evidence": [piece, {**piece, "start": 3}], "shown": 1}
    assert vote("answer", payload) == Vote("answer", "Hanna", ONE, 1)
