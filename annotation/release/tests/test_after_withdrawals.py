"""A withdrawal is followed by every later decision and release, whatever a hand had decided."""

from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.decisions.exclusions import exclude_worker, include_again
from annotation.decisions.overrides import correct, override_verdict
from annotation.decisions.verdicts import decide_collection
from annotation.models import Override, Verdict
from annotation.protocols.iirc.tests.island import island
from annotation.release.publish_release import publish_release
from annotation.tests.making import NOW, make_answer
from collector.models import Collection
from common.actions import ActionError
from tasks.models import Answer, Question, Worker

pytestmark = pytest.mark.django_db
BUILT = "Who built the school?"


@pytest.fixture
def collection() -> Collection:
    """Return a collection whose questions are decided by their votes."""
    made = island()
    Verdict.objects.all().delete()
    decide_collection(made, NOW)
    return made


def withdraw(worker: str) -> None:
    Worker.objects.filter(pk=worker).update(withdrawn_at=NOW)


def school() -> Question:
    """Return a question of the test fold: Grace, Mallory and Hedy found no answer."""
    return Question.objects.select_related("verdict").get(text=BUILT)


def answer_by(worker: str) -> Answer:
    return Answer.objects.get(question=school(), worker=worker)


def release(collection: Collection, folder: Path) -> None:
    """Do what a refused release says, then make it."""
    with pytest.raises(ActionError, match=f"validate_answers {collection.slug}"):
        publish_release(collection, folder, NOW)
    call_command("validate_answers", collection.slug, verbosity=0)
    call_command("make_splits", collection.slug, verbosity=0)
    publish_release(collection, folder, NOW)


def test_a_vote_that_comes_while_another_is_withdrawn_blocks_no_release(
    collection: Collection, tmp_path: Path
) -> None:
    chosen = school().verdict.chosen
    assert chosen is not None
    withdraw(chosen.worker_id)
    make_answer(school(), worker="ruth")
    release(collection, tmp_path / "out")


def test_an_answer_kept_by_hand_that_is_withdrawn_blocks_no_release(
    collection: Collection, tmp_path: Path
) -> None:
    override_verdict(school().verdict, "kept", answer_by("hedy"), "Right.", "rita", NOW)
    make_answer(school(), worker="ruth")
    withdraw("hedy")
    release(collection, tmp_path / "out")
    assert not school().verdict.overridden


def test_as_many_votes_are_decided_anew_where_they_are_not_the_same_ones(
    collection: Collection,
) -> None:
    decided = school().verdict
    for leaves, comes, says in [("mallory", "ruth", "yes"), ("hedy", "mary", "no")]:
        withdraw(leaves)
        make_answer(school(), "binary", yes_no=says, worker=comes)
    assert decide_collection(collection, NOW) > 0
    assert (decided.outcome, school().verdict.outcome) == ("kept", "dropped")
    assert school().verdict.n_votes == decided.n_votes
    assert decide_collection(collection, NOW) == 0


@pytest.mark.parametrize("whose", ["hedy", "ada"])
def test_a_hand_chooses_nothing_that_was_withdrawn(collection: Collection, whose: str) -> None:
    question, given = school(), answer_by("hedy")
    withdraw(whose)
    for act in (
        lambda: override_verdict(question.verdict, "kept", given, "Right.", "rita", NOW),
        lambda: correct(question.verdict, given, "none", given.payload, "So.", "rita", NOW),
    ):
        with pytest.raises(ActionError, match=r"has withdrawn.* choose another answer"):
            act()
    assert not Override.objects.exists()
    override_verdict(question.verdict, "dropped", None, "Unclear.", "rita", NOW)


def test_taking_an_exclusion_back_does_not_bring_back_what_was_withdrawn_meanwhile(
    collection: Collection,
) -> None:
    override_verdict(school().verdict, "kept", answer_by("hedy"), "Right.", "rita", NOW)
    made = exclude_worker(collection, Worker.objects.get(pk="hedy"), "Copied.", "rita", NOW)
    withdraw("hedy")
    include_again(made, "Not copied.", "rita", NOW)
    assert school().verdict.chosen != answer_by("hedy")
