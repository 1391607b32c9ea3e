"""Records tell what the rows hold, in few queries, and nothing of who a person is."""

import hashlib
import hmac
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.decisions.records import main_stages, pseudonym, records, snapshot
from annotation.models import Verdict
from annotation.protocols.contracts import EXPORT
from annotation.protocols.iirc.tests.island import HARBOUR, island
from annotation.records.schema import chosen_vote, is_kept
from annotation.tests.making import (
    NOW,
    make_answer,
    make_article,
    make_collection,
    make_corpus,
    make_question,
    make_seed,
    make_verdict,
)
from collector.models import Seed
from collector.protocols.loading import all_protocols, get_protocol
from tasks.models import Question, Worker

pytestmark = pytest.mark.django_db


def test_a_seed_comes_with_its_questions_and_all_their_votes_in_order() -> None:
    collection = island()
    train, dev, test = list(records(collection))
    assert [seed["fold"] for seed in (train, dev, test)] == ["train", "dev", "test"]
    assert train["passages"][0]["text"] == HARBOUR
    assert train["passages"][0]["permalink"].endswith("oldid=1005")
    believed, refused = dev["questions"]
    assert [vote["agrees"] for vote in believed["votes"]] == [True, False, True]
    assert chosen_vote(believed) == believed["votes"][0]
    assert (is_kept(believed), is_kept(refused)) == (True, False)
    assert refused["verdict"] == {
        "outcome": "dropped",
        "reason": "no_agreement",
        "sentence": "So it was decided.",
        "overridden": False,
    }
    assert test["questions"][2]["verdict"] is None
    assert believed["votes"][0]["hit_seconds"] == 600


def test_workers_are_keyed_pseudonyms_that_hold_inside_one_collection() -> None:
    collection = island()
    seeds = list(records(collection))
    grace = hmac.new(b"k" * 64, b"grace", hashlib.sha256).hexdigest()[:20]
    voters = {seed["questions"][0]["votes"][0]["worker"] for seed in seeds}
    assert voters == {f"worker_{grace}"}
    assert pseudonym("another key", "grace") != f"worker_{grace}"


def test_qualification_work_is_no_part_of_it() -> None:
    collection = island()
    paragraph = collection.seeds.get(fold="dev").seed_paragraphs.get().paragraph
    seed = make_seed(collection, paragraph, stage="question_qualification")
    make_question(seed, "Who tries to qualify?")
    assert main_stages(collection) == ["question"]
    assert len(list(records(collection))) == 3


def test_the_number_of_queries_does_not_grow_with_questions() -> None:
    collection = island()

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            list(records(collection))
        return len(caught)

    before = queries()
    seed = collection.seeds.get(fold="train")
    for number in range(5):
        make_answer(make_question(seed, f"Question number {number}?"))
    assert queries() == before <= 9


def test_a_hit_tells_its_time_and_how_many_items_shared_it() -> None:
    collection = island()
    first, second = Question.objects.filter(seed__fold="train").order_by("position")[:2]
    submission = make_answer(first, worker="edith", synthetic=True).submission
    make_answer(second, worker="edith", submission=submission)
    train = next(iter(records(collection)))
    votes: list[Any] = [question["votes"][-1] for question in train["questions"][:2]]
    assert [vote["hit_items"] for vote in votes] == [2, 2]
    assert [vote["synthetic"] for vote in votes] == [True, False]


@pytest.mark.django_db(transaction=True)
def test_reading_is_of_one_moment() -> None:
    collection = island()
    with snapshot():
        assert len(list(records(collection))) == 3


@pytest.mark.parametrize(
    ("protocol", "stage"),
    [
        (each.name, name)
        for each in all_protocols()
        for name, stage in each.parameters().stages().items()
        # The turns of dialogs are numbered as they are held.
        if stage.items_from == "seeds" and not stage.qualifies and stage.kind != "dialog"
    ],
)
def test_no_verdict_no_later_question_and_no_withdrawal_changes_the_id_of_a_question(
    protocol: str, stage: str
) -> None:
    collection = make_collection(make_corpus(), protocol=protocol)
    first, second = (
        make_seed(
            collection,
            make_article(collection.corpus, town, f"{town} has a mill.").paragraphs.get(),
            stage=stage,
        )
        for town in ("Carrow", "Staithby")
    )
    for seed in (first, second):
        seed.payload = {"document_id": seed.key, "kind": "book"}
        seed.save()

    def asked(seed: Seed, worker: str, key: str) -> Question:
        question = make_question(seed, "Who built the mill?", worker=worker, key=key)
        Question.objects.filter(pk=question.pk).update(position=0)
        return question

    def ids() -> dict[str, str]:
        told = get_protocol(protocol).part(EXPORT).identified(records(collection))
        return {one["key"]: one["id"] for seed in told for one in seed["questions"]}

    kept = asked(second, "ada", "m")
    make_verdict(kept, make_answer(kept, worker="zoe", stage=stage))
    waiting = asked(second, "grace", "l")
    before = ids()
    assert before["m"] != before["l"]
    # Each stands before those of earlier, by its key or by its seed.
    asked(second, "hedy", "a")
    asked(first, "ida", "b")
    Verdict.objects.all().delete()
    make_verdict(waiting, make_answer(waiting, worker="zoe", stage=stage))
    after = ids()
    assert {key: after[key] for key in before} == before
    assert len(set(after.values())) == 4
    Worker.objects.filter(pk="ada").update(withdrawn_at=NOW)
    del after["m"]
    assert ids() == after
