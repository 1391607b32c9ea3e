"""The difficulty pages: a sample is drawn, read, marked and decided about; then readers judge."""

import pytest
from django.urls import reverse

from annotation.dashboard.tests.making import send
from annotation.models import (
    CrossValidation,
    HeldOutPrediction,
    HopDecision,
    ReleaseOrder,
    SampledQuestion,
    SplitAssignment,
    Verdict,
)
from annotation.release.publish_release import fulfil
from annotation.splits.cross_validation import begin_run, table_of
from annotation.splits.human_performance import sample_questions
from annotation.splits.single_hop_review import (
    decisions,
    draw,
    draw_sample,
    sample_size,
    top_contributors,
    undecided,
)
from annotation.splits.tests.making import NOW, make_kept
from collector.models import Collection
from tasks.models import Worker
from tasks.tests.making import make_collection
from tests.page_workers import next_step

pytestmark = pytest.mark.django_db
WRITERS = ("ada", "ada", "ada", "ada", "grace", "grace", "mallory")


def address(name, **kwargs):
    return reverse(name, kwargs={"slug": "pilot", **kwargs})


def page(rita, name="difficulty", **kwargs):
    return rita.get(address(name, **kwargs)).content.decode()


def drawn(rita, number=28):
    collection = make_kept(number, WRITERS)
    rita.post(address("draw_questions"))
    return collection


def mark(rita, worker, decision="", hops="single"):
    rows = SampledQuestion.objects.filter(worker_id=worker)
    given = {f"hops-{row.pk}": hops for row in rows}
    where, to = (address(name, worker=worker) for name in ("sampled_worker", "mark_sample"))
    reply = send(rita, where, to, {**given, "decision": decision}, follow=True)
    return reply.content.decode()


def test_a_sample_drawn_of_the_splits_keeps_nobody_from_judging_what_they_are_placed_by():
    collection = make_kept()
    collection.stages.filter(name="question").update(state="closed")
    collection.stages.filter(name="human_performance").update(state="open")
    Collection.objects.update(state="collecting", budget_cents=10_000)
    assert next_step(collection).startswith("All work is in. Judge how hard the questions are")


def test_top_contributors_wrote_more_than_the_share():
    keys = {"a": ["k1", "k2", "k3"], "b": ["k4", "k5", "k6"], "c": ["k7"], "d": ["k0"]}
    assert top_contributors(keys, 0.7) == ["a", "b"]
    assert top_contributors(keys, 0.75) == ["a", "b", "d"], "more than the share, by their keys"
    assert top_contributors(keys, 1) == ["a", "b", "d", "c"]


def test_three_to_ten_questions_are_drawn_of_each():
    table = table_of(make_kept(1))
    assert [sample_size(n, 400, table) for n in (400, 200, 20, 2)] == [10, 5, 3, 2]
    keys = [f"k{number}" for number in range(40)]
    assert draw(keys, 5, 7) == draw(keys[::-1], 5, 7) != draw(keys, 5, 8)


def test_the_sample_is_drawn_once_and_read_with_its_facts(rita):
    collection = drawn(rita)
    before = list(SampledQuestion.objects.values_list("question__key", "position"))
    workers = set(SampledQuestion.objects.values_list("worker_id", flat=True))
    assert workers == {"wada", "wgrace"}, "together they wrote more than 70%"
    assert (
        "Every top contributor has a sample"
        in rita.post(address("draw_questions"), follow=True).content.decode()
    )
    assert list(SampledQuestion.objects.values_list("question__key", "position")) == before
    sheet = page(rita, "sampled_worker", worker="wada")
    assert sheet.count('class="card read"') == len(
        SampledQuestion.objects.filter(collection=collection, worker_id="wada")
    )
    assert "mark-evidence" in sheet
    assert "2 waiting" in page(rita).replace('<span class="unseen">', "").replace("</span>", "")


def test_marks_are_kept_with_who_and_when_and_lead_to_a_suggestion(rita):
    drawn(rita)
    assert "the marks are kept" in mark(rita, "wada")
    row = SampledQuestion.objects.filter(worker_id="wada").first()
    assert (row.hops, row.marked_by) == ("single", "owner")
    assert "<b>single-hop</b> is suggested" in page(rita, "sampled_worker", worker="wada")
    mark(rita, "wada", hops="multi")
    assert "<b>multi-hop</b> is suggested" in page(rita, "sampled_worker", worker="wada")
    mark(rita, "wada", hops="")
    assert "When all are marked" in page(rita, "sampled_worker", worker="wada")
    assert not SampledQuestion.objects.exclude(marked_by="").exists()


def test_a_decision_is_recorded_leads_to_the_next_and_can_be_taken_back(rita):
    collection = drawn(rita)
    assert "easy. Nobody" in mark(rita, "wada", "single")
    assert undecided(collection) == ["wgrace"]
    mark(rita, "wgrace", "multi", hops="multi")
    assert {who: row.single_hop for who, row in decisions(collection).items()} == {
        "wada": True,
        "wgrace": False,
    }
    assert "taken back" in mark(rita, "wada", "take_back")
    assert undecided(collection) == ["wada"]
    assert list(HopDecision.objects.values_list("single_hop", "by")) == [
        (True, "owner"),
        (False, "owner"),
        (None, "owner"),
    ]
    assert "taken back" in page(rita, "sampled_worker", worker="wada")


def test_judging_begins_once_all_are_decided_and_its_folds_are_shown(rita):
    collection = drawn(rita)
    assert "you have decided about the 2 workers" in page(rita)
    refused = rita.post(address("begin_judging"), follow=True).content.decode()
    assert "2 sampled workers are not decided yet" in refused
    mark(rita, "wada", "single")
    mark(rita, "wgrace", "multi", hops="multi")
    assert "12 questions to judge; 16 are easy" in page(rita, "difficulty_now")
    rita.post(address("begin_judging"))
    run = CrossValidation.objects.get()
    assert (run.by, run.n_examples, run.folds.count()) == ("owner", 12, 3)
    assert "by the light reader" in page(rita, "difficulty_now")
    assert "Fold 3" in page(rita, "difficulty_now")
    assert begin_run(collection, table_of(collection), "rita", NOW) == run, "one at a time"
    HeldOutPrediction.objects.update(loss=1)
    run.state = "done"
    run.ended_at = NOW
    run.n_right = 3
    run.save()
    assert "(25.0%)" in page(rita, "difficulty_now")
    run.reader = "neural"
    run.save()
    assert "The neural reader answered" in page(rita, "difficulty_now")


def test_questions_are_placed_and_read_once_more_without_a_release(rita):
    collection = drawn(rita)
    assert "Assign to splits</button>" not in page(rita, "difficulty_now")
    refused = rita.post(address("split_now"), follow=True).content.decode()
    assert "2 sampled workers are not decided yet" in refused
    for worker in ("wada", "wgrace"):
        mark(rita, worker, "multi", hops="multi")
    rita.post(address("begin_judging"))
    HeldOutPrediction.objects.update(loss=1)
    CrossValidation.objects.update(state="done", ended_at=NOW)
    assert "Assign to splits</button>" in page(rita, "difficulty_now")
    assert (
        "Assigned to splits: 28 questions."
        in rita.post(address("split_now"), follow=True).content.decode()
    )
    assert n_placed(rita) == 28
    collection.stages.update(state="open")
    collection.stages.filter(name="question").update(state="closed")
    assert sample_questions(collection) > 0
    held_out = {"dev", "test-distractor", "test-fullwiki"}
    read = collection.stages.get(name="human_performance").units
    again = read.values_list("items__question__split_assignment__split", flat=True)
    assert set(again) <= held_out
    assert not collection.releases.exists()
    mine = SplitAssignment.objects.filter(question__worker="wada").count()
    Worker.objects.filter(pk="wada").update(withdrawn_at=NOW)
    assert n_placed(rita) == 28 - mine < 28


def n_placed(rita):
    """Return how many questions the page says are in the splits."""
    return sum(number for _, number in rita.get(address("difficulty_now")).context["splits"])


def test_the_number_of_queries_does_not_grow_with_the_workers(rita, django_assert_max_num_queries):
    drawn(rita)
    with django_assert_max_num_queries(32):
        rita.get(address("difficulty"))
    with django_assert_max_num_queries(32):
        rita.get(address("sampled_worker", worker="wada"))


def test_a_protocol_that_judges_none_has_no_such_page(rita):
    make_collection()
    assert rita.get(address("difficulty")).status_code == 404
    assert "Difficulty" not in rita.get(address("collection")).content.decode()


def test_a_worker_without_a_sample_is_not_found(rita):
    drawn(rita)
    assert rita.get(address("sampled_worker", worker="wmallory")).status_code == 404
    assert rita.post(address("mark_sample", worker="nobody")).status_code == 404


def test_whoever_withdrew_holds_nothing_up_and_is_not_shown(rita):
    collection = drawn(rita)
    mark(rita, "wgrace", "multi", hops="multi")
    assert undecided(collection) == ["wada"]
    Worker.objects.filter(pk="wada").update(withdrawn_at=NOW)
    assert undecided(collection) == []
    assert rita.get(address("sampled_worker", worker="wada")).status_code == 404
    assert address("sampled_worker", worker="wada") not in page(rita)
    assert page(rita, "difficulty_now").count("you have decided about") == 0


def test_what_was_dropped_is_not_read_and_a_worker_without_a_sample_gets_another(rita):
    collection = drawn(rita)
    mark(rita, "wgrace", "multi", hops="multi")
    sample = list(SampledQuestion.objects.filter(worker_id="wada").order_by("position"))
    Verdict.objects.filter(question=sample[0].question).update(outcome="dropped", chosen=None)
    sheet = page(rita, "sampled_worker", worker="wada")
    assert sheet.count('class="card read"') == len(sample) - 1
    assert undecided(collection) == ["wada"]
    mine = Verdict.objects.filter(question__sampled__in=sample)
    mine.update(outcome="dropped", chosen=None)
    assert undecided(collection) == []
    assert draw_sample(collection, table_of(collection)) > 0
    assert undecided(collection)[0] == "wada"


def test_an_empty_collection_says_what_comes_first(rita):
    make_kept(0)
    assert "No question is kept yet" in page(rita)


def test_the_overview_leads_to_it_and_a_release_waits_for_it(rita):
    collection = drawn(rita)
    collection.state = "finished"
    collection.save()
    assert "Judge the difficulty" in rita.get("/collections/pilot/").content.decode()
    order = ReleaseOrder.ask(collection=collection, by="rita", asked_at=NOW)
    fulfil(order.pk, NOW)
    order.refresh_from_db()
    assert "2 sampled workers are not decided yet" in order.message
