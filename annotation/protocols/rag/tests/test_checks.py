"""What writers and readers are told to mend, and what is only advice."""

from typing import Any

from annotation.protocols.rag.checks import MEND, problems
from collector.protocols.loading import get_protocol

RULES = get_protocol("rag").parameters()
TEXT = "Its lamp, built by Corran Ladd in Carrow, was turned by a clockwork every four hours."
PASSAGES = [{"document": "a.md", "paragraph": at, "text": TEXT} for at in (0, 3)]
PIECE = {"document": "a.md", "paragraph": 0, "start": 0, "end": 3, "text": "Its"}
QUESTION = {
    "text": "Who made what shone there?",
    "category": "fact",
    "type": "answer",
    "short": "Corran Ladd",
    "full": "It was made by Corran Ladd.",
    "evidence": [PIECE, {**PIECE, "paragraph": 3}],
    "skipped": False,
    "reason": "",
}
ANSWER = {
    "type": "answer",
    "short": "Corran Ladd",
    "full": "It was Corran Ladd.",
    "evidence": [PIECE],
    "reason": "",
    "searches": ["lamp"],
    "opened": [],
}


def said(stage: str, *entries: dict[str, Any], hints: bool = False) -> list[tuple[str, str]]:
    """Return (field, sentence) of all problems, or of all hints, in these entries."""
    table = RULES.stages()[stage]
    name = "answers" if stage in ("find", "reading") else "questions"
    items = [{"id": str(at), "paragraphs": PASSAGES} for at in range(len(entries))]
    found = problems(table.kind, {name: entries}, items, table, RULES)
    return [(one.field or "", one.message) for one in found if one.hint == hints]


def test_a_whole_question_a_skip_and_a_whole_answer_are_taken() -> None:
    assert said("question", QUESTION, {**QUESTION, "skipped": True, "reason": "Odd."}) == []
    assert said("reading", ANSWER) == []
    assert said("natural", {"text": "What was the lamp turned by?"}) == []


def test_everything_that_a_question_lacks_is_said_at_once() -> None:
    nothing = {"text": "", "category": None, "short": "", "full": "", "evidence": []}
    fields = [field for field, _ in said("question", QUESTION | nothing)]
    assert fields == ["text", "category", "short", "full", "evidence"]
    assert [field for field, _ in said("question", QUESTION | {"type": None})] == ["answer"]


def test_each_passage_has_its_evidence_unless_the_question_only_seems_answered() -> None:
    [(field, sentence)] = said("question", QUESTION | {"evidence": [PIECE]})
    assert (field, sentence) == ("evidence", MEND["each"].format(number=2))
    seeming = QUESTION | {"type": "none", "short": "", "full": "", "evidence": [PIECE]}
    assert said("question", seeming) == []
    assert said("question", seeming | {"evidence": []}) == [("evidence", MEND["plausible"])]


def test_a_question_for_yes_or_no_is_answered_so() -> None:
    wrong = QUESTION | {"category": "yes_no"}
    assert said("question", wrong) == [("short", MEND["yes_no"])]
    assert said("question", wrong | {"short": "No"}) == []


def test_no_more_is_skipped_than_may_be_and_never_without_a_reason() -> None:
    skipped = QUESTION | {"skipped": True}
    assert said("question", skipped, QUESTION) == [("skip", MEND["skip"])]
    reasoned = skipped | {"reason": "Odd."}
    assert [field for field, _ in said("question", reasoned, reasoned)] == ["skip"]
    assert [field for field, _ in said("question", reasoned)] == ["skip"], "a HIT of one set"


def test_that_documents_do_not_have_it_is_said_after_different_searches() -> None:
    none = ANSWER | {"type": "none", "evidence": [], "searches": ["lamp", "lamp"]}
    [(field, sentence)] = said("find", none)
    assert field == "answer"
    assert "at least 2 different searches" in sentence
    assert said("find", none | {"searches": ["lamp", "light"]}) == []


def test_an_answer_is_proven_and_a_bad_question_explained() -> None:
    assert said("reading", ANSWER | {"evidence": []}) == [("evidence", MEND["evidence"])]
    assert said("reading", ANSWER | {"type": "bad"}) == [("reason", MEND["bad"])]


def test_advice_is_kind_and_blocks_nothing() -> None:
    bare = said("question", QUESTION | {"text": "Who made the lamp"}, hints=True)
    assert bare == [("text", "End the question with a question mark.")]
    copied = "Who says that it was turned by a clockwork every four hours?"
    [(_, sentence)] = said("question", QUESTION | {"text": copied}, hints=True)
    assert "own words" in sentence
    long = " ".join(["word"] * 12)
    assert said("reading", ANSWER | {"short": long}, hints=True)[0][0] == "short"
    assert said("question", QUESTION, QUESTION)[0][1].startswith("This is the same as question 1")


def test_questions_of_other_scripts_are_whole_by_their_own_words() -> None:
    for text in (
        "谁建了灯塔？",
        "灯台は誰が建てましたか。",
        "من بنى المنارة؟",
        "दीपस्तंभ किसने बनाया?",
    ):
        assert said("question", {**QUESTION, "text": text}) == []
        assert said("question", {**QUESTION, "text": text}, hints=True) == []
    assert said("question", {**QUESTION, "text": "谁？"})[0][0] == "text"
