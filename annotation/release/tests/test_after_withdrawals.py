"""A withdrawal is followed by every later decision and release, whatever a hand had decided."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.dashboard.tests.making import make_browser, plain, send
from annotation.decisions.by_hand import (
    correct,
    exclude_worker,
    fallen,
    follow_votes,
    include_again,
    override_verdict,
)
from annotation.decisions.records import records
from annotation.decisions.verdicts import decide_collection
from annotation.models import Override, Verdict
from annotation.protocols.iirc.tests.island import island
from annotation.release.publish_release import publish_release
from annotation.reports.attention import attention_to
from annotation.tests.making import NOW, make_answer
from collector.models import Collection
from collector.models.accounts import owner
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


@pytest.fixture
def corrected(collection: Collection) -> Override:
    """Return a correction that copies Hedy's evidence."""
    given = answer_by("hedy")
    payload = given.payload | {"value": "7", "unit": "years", "context": [{"text": "Hedy's"}]}
    return correct(school().verdict, given, "value", payload, "Counted.", "rita", NOW)


def told(collection: Collection) -> dict[str, Any]:
    """Return what a release tells of the question, without what else there is."""
    found = [each for seed in records(collection) for each in seed["questions"]]
    (question,) = [each for each in found if each["text"] == BUILT]
    return {"by_hand": question["verdict"]["overridden"], "said": json.dumps(question)}


def test_a_correction_of_a_withdrawn_answer_is_not_released_and_is_asked_for_again(
    collection: Collection, corrected: Override, tmp_path: Path
) -> None:
    assert "Hedy's" in told(collection)["said"]
    withdraw("hedy")
    with pytest.raises(ActionError, match="rest on work that was withdrawn: run validate_answers"):
        publish_release(collection, tmp_path / "out", NOW)
    assert decide_collection(collection, NOW) > 0
    assert not told(collection)["by_hand"]
    assert "Hedy's" not in told(collection)["said"]
    assert attention_to([collection])[collection.pk].fallen == 1
    assert decide_collection(collection, NOW) == 0
    follow_votes(school().verdict, "They are right.", "grace", NOW)
    assert not fallen().exists()


def test_a_correction_of_an_excluded_answer_falls_and_comes_back_with_it(
    collection: Collection, corrected: Override
) -> None:
    hedy = Worker.objects.get(pk="hedy")
    made = exclude_worker(collection, hedy, "Copied.", "rita", NOW)
    assert "Hedy's" not in told(collection)["said"]
    assert [row.question.text for row in fallen()] == [BUILT]
    include_again(made, "Not copied.", "rita", NOW)
    assert "Hedy's" in told(collection)["said"]
    assert not fallen().exists()


def test_deciding_again_ends_the_asking_and_a_lost_writer_is_not_asked_about(
    collection: Collection, corrected: Override
) -> None:
    withdraw("hedy")
    decide_collection(collection, NOW)
    assert fallen().exists()
    override_verdict(school().verdict, "kept", answer_by("grace"), "Right.", "rita", NOW)
    assert not fallen().exists()
    withdraw("grace")
    decide_collection(collection, NOW)
    assert fallen().exists()
    withdraw("ada")
    assert not fallen().exists()


def test_a_reviewer_sees_which_decisions_are_to_be_made_again(
    collection: Collection, corrected: Override, settings: Any
) -> None:
    withdraw("hedy")
    decide_collection(collection, NOW)
    settings.PASSWORDLESS_SIGN_IN = True
    rita = make_browser()
    rita.force_login(owner())
    pages = f"/collections/{collection.slug}/"
    assert "1 decision by hand to make again" in plain(rita.get(pages).content.decode())
    listed = rita.get(f"{pages}questions/?outcome=again").content.decode()
    assert "To decide again <span>1</span>" in listed
    address = f"{pages}questions/{school().key}/"
    page = rita.get(address).content.decode()
    assert "with an answer that is withdrawn or excluded now" in page
    send(rita, address, f"{address}override/", {"decision": "votes", "note": "They are right."})
    assert not fallen().exists()
    assert "is withdrawn or excluded now" not in rita.get(address).content.decode()


def test_taking_an_exclusion_back_does_not_bring_back_what_was_withdrawn_meanwhile(
    collection: Collection,
) -> None:
    override_verdict(school().verdict, "kept", answer_by("hedy"), "Right.", "rita", NOW)
    made = exclude_worker(collection, Worker.objects.get(pk="hedy"), "Copied.", "rita", NOW)
    withdraw("hedy")
    include_again(made, "Not copied.", "rita", NOW)
    assert school().verdict.chosen != answer_by("hedy")
