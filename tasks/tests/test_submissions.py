"""Work is taken in once, is never lost, and is paid whatever is believed of it."""

from datetime import timedelta

import pytest

from tasks.models import (
    GrantState,
    LeaseState,
    Payment,
    PaymentState,
    Posting,
    PostingState,
    Question,
)
from tasks.pages.notice_pages import work_form
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.work import leases, submissions
from tasks.work.kinds.registry import get_kind

pytestmark = pytest.mark.django_db


@pytest.fixture
def lease():
    stage = stage_of(make_collection(seeds=2), "question")
    return leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW)


def test_submitting_twice_is_the_same_as_once(lease):
    data = questions_for(lease)
    first = submissions.hand_in(lease, data, NOW, synthetic=False)
    second = submissions.hand_in(lease, data, NOW + timedelta(seconds=1), synthetic=False)
    assert first == second
    assert Question.objects.count() == 2
    assert Payment.objects.count() == 1
    lease.unit.refresh_from_db()
    assert (lease.unit.taken, lease.unit.submitted) == (1, 1)


def test_a_submission_turns_the_reservation_into_money_owed(lease):
    collection = lease.unit.stage.collection
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    collection.refresh_from_db()
    assert (collection.reserved_cents, collection.spent_cents) == (0, 400)
    payment = Payment.objects.get()
    assert (payment.amount_cents, payment.state) == (400, PaymentState.DUE)
    assert Posting.objects.get(pk=lease.session.posting_id).state == PostingState.SUBMITTED


def test_late_work_counts_while_its_place_is_free(lease):
    late = NOW + timedelta(hours=9)
    leases.expire_overdue(late)
    done = submissions.hand_in(lease, questions_for(lease), late, synthetic=False)
    assert done.counts
    assert Question.objects.count() == 2
    lease.refresh_from_db()
    assert lease.state == LeaseState.SUBMITTED


def test_late_work_whose_place_is_gone_is_kept_and_paid_but_not_counted(lease):
    late = NOW + timedelta(hours=9)
    leases.expire_overdue(late)
    stage = lease.unit.stage
    other = make_worker("AMALLORY")
    assert leases.claim(make_session(other, make_posting(stage)), stage, late)
    done = submissions.hand_in(lease, questions_for(lease), late, synthetic=False)
    assert not done.counts
    assert done.raw == questions_for(lease)
    assert Question.objects.count() == 0
    assert Payment.objects.get(submission=done).amount_cents == 400


def test_equal_questions_get_names_of_their_own(lease):
    data = questions_for(lease)
    data["questions"][1]["text"] = data["questions"][0]["text"]
    submissions.hand_in(lease, data, NOW, synthetic=False)
    assert len(set(Question.objects.values_list("key", flat=True))) == 2


def test_a_question_another_worker_asked_word_for_word_is_told_apart():
    stage = stage_of(make_collection(), "question_qualification")
    data = None
    for person in ("AADA", "AGRACE"):
        session = make_session(make_worker(person), make_posting(stage))
        lease = leases.claim(session, stage, NOW)
        data = data or questions_for(lease, number=1)
        submissions.hand_in(lease, data, NOW, synthetic=False)
    first, second = Question.objects.order_by("id")
    assert (first.seed, first.text) == (second.seed, second.text)
    assert first.key != second.key
    assert (second.position, second.payload) == (first.position, first.payload)


def test_a_posting_that_changed_since_it_was_read_is_read_again(lease):
    assert lease.session.posting.reserved_cents == 400
    Posting.objects.update(state=PostingState.EXPIRED, reserved_cents=0)
    collection = lease.unit.stage.collection
    type(collection).objects.update(reserved_cents=0)
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    collection.refresh_from_db()
    assert (collection.reserved_cents, collection.spent_cents) == (0, 400)
    assert Posting.objects.get().state == PostingState.EXPIRED


def test_a_question_is_named_by_its_content_and_not_by_its_row(lease):
    done = submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    names = list(Question.objects.values_list("key", flat=True))
    Question.objects.all().delete()
    get_kind("question").store(done, done.raw)
    assert list(Question.objects.values_list("key", flat=True)) == names


def test_a_qualification_submission_waits_for_inspection():
    stage = stage_of(make_collection(), "question_qualification")
    worker = make_worker()
    lease = leases.claim(make_session(worker, make_posting(stage)), stage, NOW)
    submissions.hand_in(lease, questions_for(lease, number=1), NOW, synthetic=False)
    assert worker.grants.get().state == GrantState.SUBMITTED


def test_every_problem_is_told_at_once(lease):
    items = get_kind("question").page_items(lease.unit)
    found = submissions.examine(lease, {"questions": [{"item": "0", "text": "Why?"}]}, items)
    assert {problem.field for problem in found.problems} == {"text", "context", "links", None}


@pytest.mark.parametrize(
    "junk", [None, 3, "x", [], {}, {"questions": 1}, {"questions": [None, 3, {"item": []}]}]
)
def test_junk_is_refused_with_sentences(lease, junk):
    found = submissions.examine(lease, junk, get_kind("question").page_items(lease.unit))
    assert found.problems
    assert all(problem.message for problem in found.problems)


def test_a_hundred_kilobytes_in_a_field_are_refused_and_markup_is_text(lease):
    items = get_kind("question").page_items(lease.unit)
    data = questions_for(lease)
    data["questions"][0]["text"] = "x" * 100_000
    assert any("shorten" in p.message for p in submissions.examine(lease, data, items).problems)
    data = questions_for(lease)
    data["questions"][0]["text"] = "Which <script>alert(1)</script> place & founder is older?"
    found = submissions.examine(lease, data, items)
    assert found.problems == []
    assert "<script>" in found.data["questions"][0]["text"]


def handed_in_again(lease, late):
    """Return what the worker has handed in of the same unit after their time ran out."""
    stage, posting = lease.unit.stage, make_posting(lease.unit.stage)
    again = leases.claim(make_session(lease.worker, posting), stage, late)
    assert again.unit_id == lease.unit_id
    return submissions.hand_in(again, questions_for(again), late, synthetic=False)


def test_late_work_whose_worker_handed_the_unit_in_again_is_kept_and_paid_once(lease):
    late = NOW + timedelta(hours=9)
    type(lease).objects.filter(pk=lease.pk).update(draft={"data": {}})
    leases.expire_overdue(late)
    paid = handed_in_again(lease, late)
    collection = lease.unit.stage.collection
    for _ in range(2):
        done = submissions.hand_in(lease, questions_for(lease), late, synthetic=False)
        assert (done.lease_id, done.counts, done.raw) == (lease.pk, False, questions_for(lease))
    assert Payment.objects.get().submission == paid
    lease.unit.refresh_from_db()
    assert (lease.unit.taken, lease.unit.submitted) == (1, 1)
    collection.refresh_from_db()
    assert (collection.reserved_cents, collection.spent_cents) == (400, 400)
    assert Posting.objects.get(pk=lease.session.posting_id).state == PostingState.LIVE


def test_who_sends_the_old_page_of_a_unit_hands_in_with_the_hit_that_pays_for_it(lease):
    late = NOW + timedelta(hours=9)
    type(lease).objects.filter(pk=lease.pk).update(draft={"data": {}})
    leases.expire_overdue(late)
    paid = handed_in_again(lease, late)
    done = submissions.hand_in(lease, questions_for(lease), late, synthetic=False)
    fields = work_form(lease.session, done)["fields"]
    assert (fields["assignmentId"], fields["receipt"]) == (paid.session.session_id, paid.receipt)


@pytest.mark.parametrize("late_first", [True, False])
def test_two_units_that_a_worker_did_by_taking_one_hit_twice_are_both_paid(late_first):
    stage = stage_of(make_collection(seeds=4), "question")
    worker, posting = make_worker(), make_posting(stage)
    first = leases.claim(make_session(worker, posting), stage, NOW)
    late = NOW + timedelta(hours=9)
    leases.expire_overdue(late)
    other = make_session(make_worker("AMALLORY"), make_posting(stage))
    assert leases.claim(other, stage, late).unit_id == first.unit_id
    second = leases.claim(make_session(worker, posting), stage, late)
    assert second.unit_id != first.unit_id
    for lease in (first, second) if late_first else (second, first):
        lease.refresh_from_db()
        submissions.hand_in(lease, questions_for(lease), late, synthetic=False)
    paid = Payment.objects.order_by("submission__lease")
    assert [payment.submission.lease for payment in paid] == [first, second]
    assert [payment.amount_cents for payment in paid] == [400, 400]
    stage.collection.refresh_from_db()
    # What is reserved is for the other worker.
    assert (stage.collection.reserved_cents, stage.collection.spent_cents) == (400, 800)
