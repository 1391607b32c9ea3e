"""Tests of overriding a verdict."""

import pytest
from django.utils import timezone

from annotation.dashboard.tests.making import make_answer, make_question, make_verdict
from annotation.decisions.by_hand import MAX_SENTENCE, correct, follow_votes, override_verdict
from annotation.decisions.verdicts import decide_collection
from annotation.models import Verdict
from common.actions import ActionError
from tasks.models import Answer
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def verdict() -> Verdict:
    """Return a verdict that left a question out, with two answers to it."""
    collection = make_collection()
    question = make_question(stage_of(collection, "question"))
    make_answer(question, stage_of(collection, "answer"))
    make_answer(question, stage_of(collection, "answer"), "bad", reason="No.", context=[])
    return make_verdict(question, "dropped")


def test_every_override_is_logged_with_what_was_before(verdict: Verdict) -> None:
    good = verdict.question.answers.get(type="value")
    override_verdict(verdict, "kept", good, " It is fine. ", "rita", timezone.now())
    override_verdict(verdict, "dropped", None, "It is not.", "grace", timezone.now())
    first, second = verdict.overrides.all()
    assert (first.old_outcome, first.new_chosen, first.note) == ("dropped", good, "It is fine.")
    assert (second.old_outcome, second.old_chosen, second.by) == ("kept", good, "grace")
    verdict.refresh_from_db()
    assert (verdict.outcome, verdict.chosen, verdict.overridden) == ("dropped", None, True)


def test_votes_no_longer_move_it(verdict: Verdict) -> None:
    good = verdict.question.answers.get(type="value")
    override_verdict(verdict, "kept", good, "It is fine.", "rita", timezone.now())
    make_answer(verdict.question, good.stage, "none", context=[])
    decide_collection(verdict.question.stage.collection, timezone.now())
    verdict.refresh_from_db()
    assert verdict.outcome == "kept"


def test_a_long_note_is_logged_whole(verdict: Verdict) -> None:
    note = "why " * 400
    logged = override_verdict(verdict, "dropped", None, note, "rita", timezone.now())
    verdict.refresh_from_db()
    assert logged.note == note.strip()
    assert len(verdict.sentence) == MAX_SENTENCE


@pytest.mark.parametrize(
    ("outcome", "type", "note", "sentence"),
    [
        ("kept", "value", " \n ", "Say in the note why"),
        ("waiting", "value", "Hm.", "or exclude it"),
        ("", None, "Hm.", "or exclude it"),
        ("kept", None, "Hm.", "Choose one of this question's answers"),
        ("kept", "bad", "Hm.", "choose another one"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(
    verdict: Verdict, outcome: str, type: str | None, note: str, sentence: str
) -> None:
    chosen = verdict.question.answers.get(type=type) if type else None
    with pytest.raises(ActionError, match=sentence):
        override_verdict(verdict, outcome, chosen, note, "rita", timezone.now())
    verdict.refresh_from_db()
    assert verdict.overridden is False
    assert not verdict.overrides.exists()


def test_an_answer_to_another_question_is_refused(verdict: Verdict) -> None:
    stage = verdict.question.stage
    foreign = make_answer(make_question(stage), stage_of(stage.collection, "answer"))
    with pytest.raises(ActionError):
        override_verdict(verdict, "kept", foreign, "Hm.", "rita", timezone.now())


def test_a_verdict_is_given_back_to_its_votes_and_that_is_logged(verdict: Verdict) -> None:
    good = verdict.question.answers.get(type="value")
    collection = verdict.question.stage.collection
    by_votes = Verdict.objects.filter(pk=verdict.pk)
    by_votes.update(n_votes=0)
    decide_collection(collection, timezone.now())
    before = by_votes.values("outcome", "reason", "sentence", "chosen", "agreeing").get()
    override_verdict(verdict, "kept", good, "It is fine.", "rita", timezone.now())
    logged = follow_votes(verdict, " It was not. ", "grace", timezone.now())
    assert by_votes.values(*before).get() == before
    assert (logged.follows_votes, logged.by, logged.note) == (True, "grace", "It was not.")
    assert (logged.old_outcome, logged.old_chosen) == ("kept", good)
    assert logged.new_outcome == before["outcome"]
    assert verdict.overrides.count() == 2


def test_who_is_overruled_agrees_no_longer_until_the_votes_decide_again(verdict: Verdict) -> None:
    first = verdict.question.answers.get(type="value")
    other = verdict.question.answers.get(type="bad")
    other.type, other.payload = "value", first.payload | {"value": "70"}
    other.save()
    same = make_answer(verdict.question, first.stage)
    decide_collection(verdict.question.stage.collection, timezone.now())

    def agreeing(chosen: Answer) -> list[int]:
        override_verdict(verdict, "kept", chosen, "It is so.", "rita", timezone.now())
        verdict.refresh_from_db()
        return verdict.agreeing

    assert agreeing(same) == [first.pk, same.pk]
    assert agreeing(other) == [other.pk]
    assert agreeing(first) == [first.pk, same.pk]
    correct(verdict, first, "value", {"value": "9"}, "No.", "rita", timezone.now())
    verdict.refresh_from_db()
    assert verdict.agreeing == []
    follow_votes(verdict, "They are right.", "rita", timezone.now())
    verdict.refresh_from_db()
    assert (verdict.chosen, verdict.agreeing) == (first, [first.pk, same.pk])


def test_later_votes_move_it_again(verdict: Verdict) -> None:
    collection = verdict.question.stage.collection
    override_verdict(verdict, "dropped", None, "Odd.", "rita", timezone.now())
    follow_votes(verdict, "Let them.", "rita", timezone.now())
    make_answer(verdict.question, stage_of(collection, "answer"))
    decide_collection(collection, timezone.now())
    verdict.refresh_from_db()
    assert (verdict.n_votes, verdict.overridden) == (3, False)


def test_what_follows_the_votes_cannot_be_given_back_nor_without_a_note(verdict: Verdict) -> None:
    with pytest.raises(ActionError, match="follows the votes already"):
        follow_votes(verdict, "Hm.", "rita", timezone.now())
    override_verdict(verdict, "dropped", None, "Odd.", "rita", timezone.now())
    with pytest.raises(ActionError, match="Say in the note why"):
        follow_votes(verdict, " ", "rita", timezone.now())
    assert verdict.overrides.count() == 1


def test_a_finished_collection_whose_question_has_too_few_votes_is_left_at_rest() -> None:
    collection = make_collection(answer__redundancy=dict.fromkeys(("train", "dev", "test"), 3))
    make_answer(make_question(stage_of(collection, "question")), stage_of(collection, "answer"))
    collection.state = "finished"
    collection.save()
    assert decide_collection(collection, timezone.now()) == 1
    assert Verdict.objects.get().outcome == "waiting"
    assert decide_collection(collection, timezone.now()) == 0
