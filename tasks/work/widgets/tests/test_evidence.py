"""Evidence is words of passages that may be cited; what else is sent is refused or left out."""

import pytest

from collector.protocols.loading import get_protocol
from tasks.work.widgets import evidence
from tasks.work.widgets.evidence import CATEGORY, CUT, ELSEWHERE

CHECKS = get_protocol("rag").parameters().checks
TEXT = "The 𝒜 lamp of Carrow burnt for 𝒜 years. 三省堂書店は古い。"
WHERE = {"document": "a.md", "paragraph": 2}
LAMP = {**WHERE, "start": 6, "end": 10, "text": "lamp"}
ITEM = {"id": "0", "paragraphs": [{**WHERE, "text": TEXT}]}


def pieces(*raw):
    """Return what is made of raw marks, as words, and the sentences about the others."""
    known = {("a.md", 2): TEXT}
    found, problems = evidence.clean(
        list(raw), lambda *place: known.get(place), most=3, most_words=4
    )
    return [piece["text"] for piece in found], [problem.message for problem in problems]


def test_a_mark_is_kept_with_the_name_of_its_passage_and_the_passages_own_words():
    found, problems = evidence.clean([LAMP], lambda *place: TEXT, most=3, most_words=4)
    assert (found, problems) == ([LAMP], [])
    assert pieces(LAMP, dict(LAMP), {**WHERE, "start": 5, "end": 11}) == (["lamp"], [])


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({**LAMP, "paragraph": 3}, ELSEWHERE),
        ({**LAMP, "document": "b.md"}, ELSEWHERE),
        ({**LAMP, "paragraph": True}, ELSEWHERE),
        ("x", ELSEWHERE),
        ({**WHERE, "start": 6, "end": 9}, CUT),
        ({**WHERE, "start": 7, "end": 10}, CUT),
        ({**WHERE, "start": 0, "end": 26}, "A mark has 6 words: mark 4 or fewer at a time."),
        ({**WHERE, "start": 6, "end": 999}, "A mark is outside its text"),
        ({**LAMP, "text": "lump"}, "A mark no longer fits its text"),
    ],
)
def test_what_cannot_be_cited_is_refused_with_a_sentence(raw, sentence):
    _, problems = pieces(raw)
    assert len(problems) == 1
    assert problems[0].startswith(sentence)


def test_a_script_that_parts_no_words_is_cut_anywhere():
    start = TEXT.index("三")
    assert pieces({**WHERE, "start": start, "end": start + 3}) == (["三省堂"], [])


def test_too_many_marks_are_refused_and_no_list_too():
    many = [{**WHERE, "start": at, "end": at + 1} for at in (4, 4, 4, 4)]
    assert pieces(*many)[1] == ["There are 4 marks: keep 3 or fewer."]
    assert evidence.clean("x", lambda *place: TEXT, most=3, most_words=4)[1]
    assert evidence.clean(None, lambda *place: TEXT, most=3, most_words=4) == ([], [])


def written(**entry):
    """Return the one cleaned question of a page, and the fields that something is wrong with."""
    sent = {"questions": [{"item": "0", **entry}]}
    data, problems = evidence.clean_written(sent, [ITEM], CHECKS, ["fact", "list"])
    return data["questions"][0], [problem.field for problem in problems]


def test_a_question_keeps_what_was_written_and_a_skip_its_reason_alone():
    whole = {"text": " Who? ", "category": "fact", "type": "answer", "short": "Ladd", "full": "L."}
    found, wrong = written(**whole, evidence=[LAMP])
    assert wrong == []
    assert found == {
        **whole,
        "item": "0",
        "text": "Who?",
        "evidence": [LAMP],
        "skipped": False,
        "reason": "",
    }
    skipped, _ = written(**whole, skipped=True, reason="Odd.")
    assert (skipped["text"], skipped["type"], skipped["reason"]) == ("", None, "Odd.")


def test_a_question_that_only_seems_answered_has_no_answer():
    found, _ = written(type="none", short="x", full="y", evidence=[LAMP])
    assert (found["short"], found["full"], found["evidence"]) == ("", "", [LAMP])


@pytest.mark.parametrize("field", ["text", "short", "full", "category", "type", "evidence"])
@pytest.mark.parametrize("junk", [3, {"a": 1}, [7], "y" * 5000])
def test_junk_in_any_field_is_a_problem_and_never_an_error(field, junk):
    _, wrong = written(**{field: junk})
    assert wrong
    assert evidence.CATEGORY == CATEGORY


def answered(**entry):
    """Return the one cleaned answer of a page with a search box."""
    sent = {"answers": [{"item": "0", **entry}]}
    data, _ = evidence.clean_answered(sent, [ITEM], lambda item, *place: TEXT, CHECKS)
    return data["answers"][0]


def test_what_was_searched_and_opened_is_kept_and_junk_in_it_left_out():
    found = answered(
        searches=["lamp", 3, "", "x" * 999],
        opened=[{**WHERE, "more": 1}, WHERE, "x", {"document": "y" * 999, "paragraph": 1}],
    )
    assert found["searches"] == ["lamp"]
    assert found["opened"] == [WHERE]
    assert answered(searches="x", opened=3)["searches"] == []


def test_only_an_answer_has_evidence_and_only_a_bad_question_a_reason():
    given = {"short": "Ladd", "full": "It is.", "evidence": [LAMP], "reason": "Odd."}
    none, bad = answered(type="none", **given), answered(type="bad", **given)
    assert (none["evidence"], none["short"], none["reason"]) == ([], "", "")
    assert (bad["evidence"], bad["reason"]) == ([], "Odd.")
    assert answered(type="answer", **given)["evidence"] == [LAMP]
