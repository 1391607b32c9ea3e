"""Questions about pairs are kept with their writer's answers; skipped pairs go to others."""

import pytest
from django.http import HttpResponse

from annotation.decisions.verdicts import decide_collection, voting_stages
from annotation.splits.human_performance import sample_questions
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from tasks.ledger.tests.making import begin, bundle, hand_in, make_pairs
from tasks.models import Answer, Lease, Question, Skip
from tasks.pages.receipt_views import Piece, pieces_of
from tasks.pages.work_page import items_of, trial_page
from tasks.paying import compensation
from tasks.people.lease_context import stage_context_of
from tasks.tests.making import NOW, make_posting, make_session, make_worker, stage_of, write_keys
from tasks.tests.visiting import state_of
from tasks.work import leases, submissions
from tasks.work.leases import suitable_units
from tasks.work.passages import paragraphs_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _keys(tmp_path, settings):
    write_keys(tmp_path, settings)


def test_a_page_shows_both_paragraphs_in_sentences_and_words() -> None:
    pairs = make_pairs(2)
    first, _ = items_of(begin(pairs, make_worker()).unit)
    assert (first["type"], first["form"]) == ("bridge", "any")
    a, b = first["paragraphs"]
    assert (a["document"], b["document"]) == ("0", "1")
    assert [a["title"], b["title"]] == ["Place 0", "Place 1"]
    assert len(a["sentences"]) == 2
    assert a["tokens"][0] == (0, 5, True)


def test_a_question_is_kept_with_its_answer_and_a_skip_with_its_reason() -> None:
    pairs = make_pairs(2)
    ada = make_worker()
    hand_in(begin(pairs, ada), skipped=1)
    [question], [answer], [skip] = Question.objects.all(), Answer.objects.all(), Skip.objects.all()
    assert question.payload == {"type": "bridge", "form": "any", "facts": [[0, 0], [1, 1]]}
    span = {"document": 1, "start": 0, "end": 5, "text": "Place"}
    assert answer.payload == {"spans": [span], "facts": [[0, 0], [1, 1]]}
    assert (answer.question, answer.worker, answer.type) == (question, ada, "span")
    assert (skip.worker, skip.reason) == (ada, "One paragraph says too little.")
    decide_collection(pairs, NOW)
    assert (question.verdict.outcome, question.verdict.chosen) == ("kept", answer)


def test_a_pair_is_read_again_as_one_thing_with_its_answer_and_proof_and_a_skip_too() -> None:
    submission = hand_in(begin(make_pairs(2), make_worker()), skipped=1)
    [question] = Question.objects.all()
    first, second = paragraphs_of([question.seed_id])[question.seed_id].paragraphs
    proof = [
        first["text"][slice(*first["sentences"][0])],
        second["text"][slice(*second["sentences"][1])],
    ]
    skipped = Skip.objects.get().seed
    titles = " · ".join(one["title"] for one in paragraphs_of([skipped.pk])[skipped.pk].paragraphs)
    assert list(pieces_of(submission)) == [
        Piece(question.text, "Place", proof, []),
        Piece(f"Skipped: {titles}", "One paragraph says too little.", [], []),
    ]


def test_a_skipped_pair_goes_to_somebody_else_and_after_two_to_nobody() -> None:
    pairs = make_pairs(4)
    people = (make_worker(person) for person in ("AADA", "AGRACE", "ARITA", "AEDITH"))
    ada, grace, rita, edith = people
    for worker in (ada, grace):
        hand_in(begin(pairs, worker), skipped=1)
    assert bundle(pairs) == 1
    stage = stage_of(pairs, "question")
    assert list(suitable_units(stage, ada, qualifies=False)) == []
    hand_in(begin(pairs, rita), skipped=1)
    assert bundle(pairs) == 0
    assert list(suitable_units(stage, edith, qualifies=False)) == []
    assert Skip.objects.count() == 3


def test_a_smaller_last_hit_is_not_skipped_whole() -> None:
    pairs = make_pairs(6, question__items_per_hit=3, question__max_skips=2)
    for each in ("AADA", "AGRACE"):
        hand_in(begin(pairs, make_worker(each)), skipped=1)
    assert bundle(pairs) == 1
    lease = begin(pairs, make_worker("ARITA"))
    assert lease.unit.items.count() == 2
    items = items_of(lease.unit)
    setting = stage_context_of(lease.unit.stage_id, lease.instructions_id)
    page = state_of(HttpResponse(trial_page(setting, 375, NOW, items)))
    assert page["limits"]["max_skips"] == 1
    skips = [
        {"item": item["id"], "skipped": True, "reason": "It says too little."} for item in items
    ]
    said = submissions.examine(lease, {"pairs": skips}, items).problems
    assert [(each.index, each.message) for each in said] == [
        (1, "At most 1 of the pairs of this HIT can be skipped: write about this one.")
    ]


def test_a_pair_has_one_writer() -> None:
    with pytest.raises(ProtocolError, match=r"question: redundancy must be 1 in every fold"):
        make_pairs(2, question__redundancy={"train": 2, "dev": 1, "test": 1})


def test_skipped_pairs_wait_until_they_fill_a_hit_or_are_the_last() -> None:
    pairs = make_pairs(4)
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    hand_in(begin(pairs, ada), skipped=1)
    # The other HIT is still open: a HIT of one pair would be paid like one of two.
    assert bundle(pairs) == 0
    hand_in(begin(pairs, grace), skipped=1)
    assert bundle(pairs) == 1
    assert stage_of(pairs, "question").units.latest("position").items.count() == 2


def test_a_pair_that_was_skipped_is_paid_for_when_the_time_runs_out() -> None:
    pairs = make_pairs(2)
    lease = begin(pairs, make_worker())
    entry = {"item": "0", "skipped": True, "reason": "A paragraph is broken."}
    Lease.objects.filter(pk=lease.pk).update(draft={"data": {"pairs": [entry]}, "ui": {}})
    lease.refresh_from_db()
    assert compensation.worth_cents(lease) == 188


def test_others_read_again_what_was_placed_in_dev_and_test_and_give_no_vote() -> None:
    from annotation.models import SplitAssignment

    pairs = make_pairs(4, human_performance__items_per_hit=2)
    ada = make_worker("AADA")
    for _ in range(2):
        hand_in(begin(pairs, ada))
    decide_collection(pairs, NOW)
    assert voting_stages(parameters_of(pairs)) == {"question": ("question",)}
    assert sample_questions(pairs) == 0
    splits = ("train-medium", "dev", "test-distractor", "test-fullwiki")
    for question, split in zip(Question.objects.order_by("id"), splits, strict=True):
        SplitAssignment.objects.create(question=question, split=split, reason="test", placed_at=NOW)
    assert sample_questions(pairs) == 2
    stage = stage_of(pairs, "human_performance")
    assert {unit.redundancy for unit in stage.units.all()} == {3}
    read = set(stage.units.values_list("items__question__split_assignment__split", flat=True))
    assert read == {"dev", "test-distractor", "test-fullwiki"}
    assert leases.claim(make_session(ada, make_posting(stage)), stage, NOW) is None
    grace = leases.claim(make_session(make_worker("AGRACE"), make_posting(stage)), stage, NOW)
    assert grace is not None
    item = items_of(grace.unit)[0]
    assert sorted(one["document"] for one in item["paragraphs"]) == ["0", "1"]
    assert set(item) == {"id", "question", "form", "paragraphs"}


def test_questions_of_people_who_have_withdrawn_are_not_read_again() -> None:
    from annotation.models import SplitAssignment

    pairs = make_pairs(4, human_performance__items_per_hit=2)
    ada, grace = make_worker("AADA"), make_worker("AGRACE")
    hand_in(begin(pairs, ada))
    hand_in(begin(pairs, grace))
    decide_collection(pairs, NOW)
    for question in Question.objects.all():
        SplitAssignment.objects.create(question=question, split="dev", reason="test", placed_at=NOW)
    ada.withdrawn_at = NOW
    ada.save()
    decide_collection(pairs, NOW)
    assert sample_questions(pairs) == 1
    units = stage_of(pairs, "human_performance").units
    assert set(units.values_list("items__question__worker", flat=True)) == {grace.pk}
