"""Pairs are labelled by people who had no part in them: most by one, a drawn share by two."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.utils import timezone

from annotation.models import Verdict
from annotation.protocols.bookqa.tests.making import READERS, WRITERS
from annotation.splits.human_performance import sample_questions
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from tasks import hits
from tasks.costs import estimate
from tasks.lifecycle.publication import close_stage
from tasks.models import Answer, Question, UnitItem
from tasks.tests.making import stage_of
from tasks.work.kinds.registry import kind_of
from tasks.work.units import is_done
from tests.page_workers import Person, look, next_step, run

pytestmark = pytest.mark.django_db
LABELLERS = ("AFAY", "AGIL")
SAMPLE = Path(__file__).parent.parent / "sample.json"


@pytest.fixture
def read_in(tmp_path: Path, collection: Collection) -> Collection:
    """Return a collection of three published pairs, reopened with money to have them labelled."""
    files = []
    for name, text in json.loads(SAMPLE.read_text("utf-8")).items():
        files.append(tmp_path / f"read-{name}")
        files[-1].write_bytes(text.encode())
    run("import_dataset", "old", *map(str, files), protocol="bookqa")
    run("finish_collection", "old", reopen=True, why="To label it.")
    run("change_collection", "old", budget=50.0, why="To label it.")
    return Collection.objects.get(slug="old")


def share_half(collection: Collection, per_hit: int = 1) -> None:
    """Have half of the HITs labelled by two, and so many pairs in each."""
    labels = collection.parameters["label"] | {"items_per_hit": per_hit}
    labels["redundancy"] = labels["redundancy"] | {"percent": 50, "people": 2}
    collection.parameters = collection.parameters | {"label": labels}
    collection.save()


def begin(collection: Collection, per_hit: int = 1) -> None:
    """Draw the pairs to be labelled, and put them up."""
    share_half(collection, per_hit)
    run("validate_answers", collection.slug)
    sample_questions(collection)
    stage = stage_of(collection, "label")
    hits.plan_postings(stage, timezone.now())
    hits.publish_pending(stage, timezone.now())


def test_what_is_decided_is_labelled_by_people_who_had_no_part_in_it(
    collected: Collection,
) -> None:
    begin(collected)
    stage = stage_of(collected, "label")
    kept = Question.objects.filter(verdict__outcome="kept")
    assert set(stage.units.values_list("items__question", flat=True)) == {
        question.pk for question in kept
    }
    assert len(kept) == 3
    assert "HITs wait on the marketplace" in next_step(collected)
    before = list(Verdict.objects.order_by("pk").values_list("pk", "outcome", "n_votes"))
    for name in LABELLERS:
        Person(name, collected).work("label")
    for unit in stage.units.all():
        assert unit.submitted == unit.redundancy
    for label in Answer.objects.filter(stage=stage).select_related("question"):
        others = label.question.answers.filter(stage__name="answer")
        assert label.worker_id not in {label.question.worker_id, *(o.worker_id for o in others)}
    run("validate_answers", collected.slug)
    assert next_step(collected).startswith("All work is in.")
    assert list(Verdict.objects.order_by("pk").values_list("pk", "outcome", "n_votes")) == before


def test_of_three_hits_one_or_two_are_done_by_two_as_the_estimate_says(
    collected: Collection,
) -> None:
    begin(collected)
    stage = stage_of(collected, "label")
    people = sorted(stage.units.values_list("redundancy", flat=True))
    assert people in ([1, 1, 2], [1, 2, 2])
    (row,) = [each for each in estimate(collected) if each.stage == stage]
    # Four questions were to come at most: two of four HITs by two.
    assert row.maximum_cents == (4 + 2) * parameters_of(collected).stages()["label"].reward_cents
    assert sum(people) <= 4 + 2


def test_a_labeller_sees_the_question_with_both_answers_and_nobody_s_name(
    collected: Collection,
) -> None:
    begin(collected, per_hit=3)
    state, html = Person("AFAY", collected).enter("label")
    by_text = {item["text"]: item for item in state["items"]}
    assert state["running"] == {"done": 0, "of": 3}
    for question in Question.objects.filter(verdict__outcome="kept"):
        (other,) = question.answers.all()
        shown = by_text[question.text]
        assert shown["answers"] == [
            question.payload["fields"]["answer"],
            other.payload["fields"]["answer"],
        ]
        assert set(shown) == {"id", "text", "passage", "answers"}
        assert question.worker_id not in html
        assert other.worker_id not in html


def test_who_asked_or_answered_gets_no_label_hit_of_it(collected: Collection) -> None:
    begin(collected, per_hit=3)
    kept = Question.objects.filter(verdict__outcome="kept")
    people = {question.worker.identity.person for question in kept if question.worker}
    for answer in Answer.objects.filter(question__in=kept).select_related("worker__identity"):
        people.add(answer.worker.identity.person)
    assert people & set(WRITERS)
    assert people & set(READERS)
    for name in people:
        assert Person(name, collected).enter("label")[0] == {}


def test_nothing_is_drawn_before_all_is_decided(collection: Collection) -> None:
    Person(WRITERS[0], collection).work("question")
    look(collection)
    assert sample_questions(collection) == 0


def test_nothing_is_drawn_while_a_question_waits_for_its_hit(collected: Collection) -> None:
    run("validate_answers", collected.slug)
    late = Question.objects.filter(verdict__outcome="kept").latest("pk")
    Verdict.objects.filter(question=late).delete()
    late.answers.all().delete()
    UnitItem.objects.filter(question=late).delete()
    # All that was handed out is done, and yet one more comes.
    assert is_done(stage_of(collected, "answer"))
    assert sample_questions(collected) == 0
    close_stage(stage_of(collected, "answer"))
    assert sample_questions(collected) == 1


def test_published_pairs_are_labelled_in_the_same_stage(read_in: Collection) -> None:
    share_half(read_in)
    run("publish", "old", stage="label")
    read_in.refresh_from_db()
    begin(read_in)
    assert [stage.name for stage in read_in.stages.filter(state="open")] == ["label"]
    said = {each.stage.name: each.maximum_cents for each in estimate(read_in)}
    assert (said["question"], said["answer"]) == (0, 0)
    state, _ = Person("AFAY", read_in).enter("label")
    assert len(state["items"][0]["answers"]) == 2
    for name in LABELLERS:
        Person(name, read_in).work("label")
    labels = Answer.objects.filter(stage=stage_of(read_in, "label"))
    people = stage_of(read_in, "label").units.values_list("redundancy", flat=True)
    assert labels.count() == sum(people) > 3
    assert said["label"] >= 100 * labels.count()


@pytest.mark.parametrize("stage", ["question", "answer"])
def test_nobody_is_asked_to_write_what_was_read_from_files(read_in: Collection, stage: str) -> None:
    with pytest.raises(CommandError, match="only a stage that draws some of them can be opened"):
        run("publish", "old", stage=stage)
    with pytest.raises(CommandError, match="publish old --stage label"):
        run("publish", "old")


def test_a_thousand_pairs_are_labelled_as_the_paper_did() -> None:
    table: Any = get_protocol("bookqa").parameters().stages()["label"]
    n_hits = table.sample_questions // table.items_per_hit
    people = [table.redundancy.of_hit(1, number, "7:label") for number in range(n_hits)]
    by_two = people.count(2) * table.items_per_hit
    assert (table.sample_questions, by_two) == (1000, 150)
    assert table.redundancy.places({1: n_hits}) == sum(people)


def test_labels_are_tried_with_questions_and_all_their_answers(collected: Collection) -> None:
    stage = collected.stages.get(name="label")
    items = kind_of(stage).trial_items(stage)
    written = Question.objects.order_by("pk")[:3]
    assert [item["text"] for item in items] == [question.text for question in written]
    # The writer's own, and another's.
    assert [len(item["answers"]) for item in items] == [2, 2, 2]
