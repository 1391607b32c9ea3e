"""Cut-off work is paid once, by what it was worth, and no single row stops anybody's pay."""

from contextlib import suppress
from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection
from django.db.models import F

from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks import hits
from tasks.crowd import marketplace
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import budget, lease_reserves
from tasks.ledger.budget import differences
from tasks.lifecycle import maintenance
from tasks.models import (
    Grant,
    Lease,
    LeaseEnded,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    PostingState,
    ReceiptState,
    Session,
    Submission,
)
from tasks.paying import compensation, reconcile
from tasks.people import qualifications
from tasks.people.erasure import forget
from tasks.people.qualifications import decide
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.tests.visiting import at_work, post
from tasks.work import leases, submissions

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=9)
LONG_ENOUGH_SECONDS = 0.5


def begun(stage, worker, data, reward=400):
    """Return a lease whose time has run out with `data` saved, past the hour for late work."""
    session = make_session(worker, make_posting(stage, reward))
    session.signed_until = NOW + timedelta(hours=4)
    session.save()
    lease = leases.claim(session, stage, NOW)
    leases.save_draft(lease, {"data": data(lease)}, lease.draft_version, NOW)
    leases.expire_overdue(LATER)
    lease.refresh_from_db()
    return lease


@pytest.fixture
def stage():
    return stage_of(make_collection(seeds=2), "question")


def test_half_the_questions_are_worth_half_the_reward(stage):
    lease = begun(stage, make_worker(), lambda lease: questions_for(lease, number=1))
    assert compensation.owe_for_unfinished(lease, LATER)
    payment = Payment.objects.get()
    assert (payment.kind, payment.amount_cents) == (PaymentKind.COMPENSATION, 200)
    stage.collection.refresh_from_db()
    assert stage.collection.spent_cents == 200


@pytest.mark.parametrize(
    ("reward", "saved", "cents"),
    [(90, 7, 63), (115, 3, 35), (400, 10, 400)],
    ids=["whole cents", "a part of a cent is the worker's", "all of it"],
)
def test_saved_work_is_paid_to_the_cent_and_rounded_once_for_the_worker(reward, saved, cents):
    ten = make_collection(seeds=2, question__questions_per_hit=10)
    stage = stage_of(ten, "question")
    begun(stage, make_worker(), lambda lease: questions_for(lease, number=saved), reward)
    assert maintenance.pay_unfinished(ten, LATER) == 1
    assert Payment.objects.get().amount_cents == cents


def test_what_could_not_be_handed_in_is_worth_nothing(stage):
    junk = {"questions": [{"item": "0", "text": "x", "context": [], "links": []}] * 2}
    lease = begun(stage, make_worker(), lambda _: junk)
    assert not compensation.owe_for_unfinished(lease, LATER)
    assert not Payment.objects.exists()


@pytest.mark.parametrize("data", [None, [1], 5, {"questions": 5}, {"questions": [None]}])
def test_a_draft_of_junk_stops_nothing(stage, data):
    begun(stage, make_worker(), lambda _: data)
    assert maintenance.pay_unfinished(stage.collection, LATER) == 0
    assert Lease.objects.get().compensated


def test_the_same_unit_is_paid_once_and_not_handed_out_to_them_again(stage):
    worker = make_worker()
    lease = begun(stage, worker, questions_for)
    for _ in range(3):
        compensation.owe_for_unfinished(lease, LATER)
    assert Payment.objects.get().amount_cents == 400
    assert leases.claim(make_session(worker, make_posting(stage)), stage, LATER) is None
    assert leases.claim(make_session(make_worker("A2"), make_posting(stage)), stage, LATER)


def test_nothing_is_owed_while_late_work_is_still_taken(stage):
    begun(stage, make_worker(), questions_for)
    early = NOW + timedelta(hours=3)
    assert maintenance.pay_unfinished(stage.collection, early) == 0
    assert maintenance.pay_unfinished(stage.collection, LATER) == 1


@pytest.mark.parametrize("late", [True, False], ids=["handed in late", "left as saved"])
def test_of_two_stays_out_of_time_the_later_is_paid_for_what_both_have_saved(stage, late):
    worker = make_worker()
    begun(stage, worker, lambda lease: questions_for(lease, number=1))
    second = begun(stage, worker, questions_for)
    Session.objects.filter(pk=second.session_id).update(signed_until=LATER + timedelta(hours=1))
    assert maintenance.pay_unfinished(stage.collection, LATER) == 0
    after = LATER + timedelta(hours=2)
    if late:
        second.refresh_from_db()
        submissions.hand_in(second, questions_for(second), LATER, synthetic=False)
    assert maintenance.pay_unfinished(stage.collection, after) == (not late)
    assert Payment.objects.get().amount_cents == 400


@pytest.mark.parametrize("counts", [True, False])
def test_what_is_handed_in_late_while_a_round_is_under_way_is_not_paid_as_saved_too(stage, counts):
    lease = begun(stage, make_worker(), questions_for)
    if not counts:
        leases.claim(make_session(make_worker("A2"), make_posting(stage)), stage, LATER)
    read = Lease.objects.select_related("unit__stage", "session__posting").get(pk=lease.pk)
    done = submissions.hand_in(lease, questions_for(lease), LATER, synthetic=False)
    assert done.counts == counts
    assert not compensation.owe_for_unfinished(read, LATER)
    assert Payment.objects.get().kind == PaymentKind.REWARD


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_what_is_handed_in_late_while_its_share_is_worked_out_is_not_paid_as_well(
    stage, monkeypatch
):
    lease = begun(stage, make_worker(), questions_for)
    worth_cents, threads = compensation.worth_cents, []

    def hand_in_late():
        try:
            with suppress(LeaseEnded):
                submissions.hand_in(lease, questions_for(lease), LATER, synthetic=False)
        finally:
            connection.close()

    def worth_while_handed_in(read):
        threads.append(Thread(target=hand_in_late))
        threads[0].start()
        threads[0].join(LONG_ENOUGH_SECONDS)
        return worth_cents(read)

    monkeypatch.setattr(compensation, "worth_cents", worth_while_handed_in)
    assert maintenance.pay_unfinished(stage.collection, LATER) == 1
    threads[0].join()
    assert [payment.kind for payment in Payment.objects.all()] == [PaymentKind.COMPENSATION]


def test_what_one_stay_saved_is_not_paid_once_another_has_handed_it_in_without_counting(stage):
    worker = make_worker()
    first = begun(stage, worker, questions_for)
    second = begun(stage, worker, questions_for)
    leases.claim(make_session(make_worker("A2"), make_posting(stage)), stage, LATER)
    assert not submissions.hand_in(second, questions_for(second), LATER, synthetic=False).counts
    assert not compensation.owe_for_unfinished(first, LATER)
    assert Payment.objects.get().kind == PaymentKind.REWARD


def full(collection):
    """Let the collection's budget hold what is bound already, and nothing more."""
    collection.refresh_from_db()
    collection.budget_cents = collection.reserved_cents + collection.spent_cents
    collection.save()


def emptied(posting):
    """Let the HIT hold nothing any more, as when its money went to somebody else's work."""
    Collection.objects.filter(pk=posting.stage.collection_id).update(
        reserved_cents=F("reserved_cents") - posting.reserved_cents
    )
    Posting.objects.filter(pk=posting.pk).update(reserved_cents=0, state=PostingState.EXPIRED)


def test_a_budget_that_holds_no_more_pays_out_of_the_hit_which_ends(stage):
    lease = begun(stage, make_worker(), lambda lease: questions_for(lease, number=1))
    full(stage.collection)
    assert compensation.owe_for_unfinished(lease, LATER)
    posting = Posting.objects.get(worker__isnull=True)
    assert (posting.reserved_cents, posting.expires_at) == (200, LATER)
    stage.collection.refresh_from_db()
    assert (stage.collection.reserved_cents, stage.collection.spent_cents) == (200, 200)
    hits.expire(posting)
    stage.collection.refresh_from_db()
    assert (stage.collection.reserved_cents, stage.collection.spent_cents) == (0, 200)


def test_a_budget_that_cannot_hold_it_leaves_the_debt_for_later(stage):
    lease = begun(stage, make_worker(), questions_for)
    emptied(lease.session.posting)
    collection = stage.collection
    full(collection)
    assert not compensation.owe_for_unfinished(lease, LATER)
    assert not Payment.objects.exists()
    assert not Posting.objects.filter(worker__isnull=False).exists()
    collection.budget_cents += 400
    collection.save()
    assert compensation.owe_for_unfinished(lease, LATER)


def test_a_compensation_past_the_maximum_is_a_dated_change_of_it(stage):
    lease = begun(stage, make_worker(), questions_for)
    emptied(lease.session.posting)
    Collection.objects.filter(pk=stage.collection_id).update(maximum_cents=100)
    assert compensation.owe_for_unfinished(lease, LATER)
    stage.collection.refresh_from_db()
    assert (stage.collection.maximum_cents, stage.collection.spent_cents) == (400, 400)
    change = stage.collection.revisions.get()
    told = (change.key, change.old, change.new, change.by, change.at)
    assert told == ("maximum_cents", 100, 400, "compensation", LATER)


def test_whoever_takes_a_hit_over_leaves_what_the_one_before_may_still_earn(stage):
    late = begun(stage, make_worker(), questions_for)
    posting = late.session.posting
    now = leases.claim(make_session(make_worker("A2"), posting), stage, LATER)
    stage.collection.refresh_from_db()
    assert stage.collection.reserved_cents == 800
    full(stage.collection)
    late.refresh_from_db()
    assert late.reserved_cents == 400
    for each in (late, now):
        submissions.hand_in(each, questions_for(each), LATER, synthetic=False)
    stage.collection.refresh_from_db()
    assert (stage.collection.reserved_cents, stage.collection.spent_cents) == (0, 800)
    assert not stage.collection.revisions.exists()


def test_whoever_handed_in_too_late_leaves_the_hit_to_the_next(stage):
    stage = stage_of(make_collection(stage.collection.corpus, slug="two", seeds=4), "question")
    late = begun(stage, make_worker(), questions_for)
    submissions.hand_in(late, questions_for(late), LATER, synthetic=False)
    second = leases.claim(make_session(make_worker("A2"), late.session.posting), stage, LATER)
    assert second.reserved_cents == 400
    full(stage.collection)
    submissions.hand_in(second, questions_for(second), LATER, synthetic=False)
    stage.collection.refresh_from_db()
    assert (stage.collection.reserved_cents, stage.collection.spent_cents) == (0, 800)
    assert not stage.collection.revisions.exists()


def test_nobody_takes_a_hit_over_without_money_for_both(stage):
    first = begun(stage, make_worker(), questions_for)
    full(stage.collection)
    with pytest.raises(lease_reserves.ReserveFailed):
        leases.claim(make_session(make_worker("A2"), first.session.posting), stage, LATER)
    first.refresh_from_db()
    assert first.reserved_cents == 0
    assert not Lease.objects.exclude(pk=first.pk).exists()


def test_whoever_goes_on_where_they_stopped_needs_no_second_reward(stage):
    worker = make_worker()
    first = begun(stage, worker, questions_for)
    full(stage.collection)
    again = leases.claim(make_session(worker, first.session.posting), stage, LATER)
    assert again.unit_id == first.unit_id
    assert again.draft == first.draft


def test_what_was_paid_as_saved_is_not_handed_in_and_paid_again(client, collection, soon):
    _, state = at_work(client, collection, soon)
    lease = Lease.objects.get()
    data = questions_for(lease)
    leases.save_draft(lease, {"data": data}, 0, NOW)
    leases.end(lease, LeaseState.EXPIRED, NOW)
    lease.refresh_from_db()
    assert compensation.owe_for_unfinished(lease, LATER)
    reply = post(client, state, "submit", {"data": data})
    assert (reply.status_code, Submission.objects.count()) == (410, 0)
    assert Payment.objects.get().kind == PaymentKind.COMPENSATION


def test_a_hit_that_ends_leaves_its_money_to_whoever_began_it(stage):
    lease = begun(stage, make_worker(), lambda lease: questions_for(lease, number=1))
    posting = lease.session.posting
    posting.refresh_from_db()
    assert hits.expire(posting)
    full(stage.collection)
    assert compensation.owe_for_unfinished(lease, LATER)
    stage.collection.refresh_from_db()
    assert (stage.collection.reserved_cents, stage.collection.spent_cents) == (0, 200)
    assert not stage.collection.revisions.exists()


def test_what_a_returned_stay_held_is_let_go(stage):
    stage = stage_of(make_collection(stage.collection.corpus, slug="two", seeds=4), "question")
    late = begun(stage, make_worker(), questions_for)
    submissions.hand_in(late, questions_for(late), LATER, synthetic=False)
    second = leases.claim(make_session(make_worker("A2"), late.session.posting), stage, LATER)
    assert lease_reserves.release_ended(stage.collection) == 0
    leases.end(second, LeaseState.RETURNED, LATER)
    assert lease_reserves.release_ended(stage.collection) == 1
    stage.collection.refresh_from_db()
    assert stage.collection.reserved_cents == 0


def test_a_round_that_dies_while_it_lets_money_go_leaves_it_to_the_next(stage, monkeypatch):
    first = begun(stage, make_worker(), questions_for)
    leases.claim(make_session(make_worker("A2"), first.session.posting), stage, LATER)
    Lease.objects.filter(pk=first.pk).update(state=LeaseState.RETURNED)

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(budget, "release", dies)
        with pytest.raises(KeyboardInterrupt):
            lease_reserves.release_ended(stage.collection)
    assert not differences()
    assert lease_reserves.release_ended(stage.collection) == 1
    assert not differences()


def test_a_second_tab_hands_in_after_the_first_lease_ended(stage):
    worker = make_worker()
    first = begun(stage, worker, questions_for)
    second = leases.claim(make_session(worker, make_posting(stage)), stage, LATER)
    done = submissions.hand_in(first, questions_for(first), LATER, synthetic=False)
    assert done.counts
    second.refresh_from_db()
    assert second.state == LeaseState.RETURNED
    first.unit.refresh_from_db()
    assert (first.unit.taken, first.unit.submitted) == (1, 1)


def test_one_refused_assignment_does_not_stop_the_others(stage, monkeypatch):
    people = [make_worker(person) for person in ("A1", "A2")]
    collection = make_collection(stage.collection.corpus, slug="two")
    stage = stage_of(collection, "question")
    for person in people:
        lease = leases.claim(make_session(person, make_posting(stage)), stage, NOW)
        submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    Submission.objects.update(state=ReceiptState.CONFIRMED, confirmed_at=NOW)
    refused = Submission.objects.order_by("id").first()

    def approve(assignment_id):
        if assignment_id == refused.lease.session.session_id:
            raise MarketplaceError("It is rejected.", permanent=True)

    monkeypatch.setattr(marketplace, "approve", approve)
    monkeypatch.setattr(marketplace, "finish_hit", lambda hit_id: None)
    assert reconcile.approve_confirmed(collection, NOW) == 1
    refused.refresh_from_db()
    assert refused.state == ReceiptState.REFUSED
    assert Payment.objects.filter(state=PaymentState.CONFIRMED).count() == 1


def test_a_forgotten_applicant_can_no_longer_be_decided():
    collection = make_collection()
    stage = stage_of(collection, "question_qualification")
    worker = make_worker()
    lease = leases.claim(make_session(worker, make_posting(stage)), stage, NOW)
    submissions.hand_in(lease, questions_for(lease, number=1), NOW, synthetic=False)
    Payment.objects.update(state=PaymentState.CONFIRMED)
    Submission.objects.update(state=ReceiptState.APPROVED)
    forget(worker, NOW, withdraw=False)
    assert not Grant.objects.exists()


def test_a_step_that_fails_leaves_the_other_steps_alone(stage, monkeypatch):
    def broken(*_):
        raise ValueError

    monkeypatch.setattr(maintenance, "pay_unfinished", broken)
    monkeypatch.setattr(maintenance, "parameters_of", parameters_of)
    for name in ("confirm_submissions", "reroute_lost", "find_returned"):
        monkeypatch.setattr(maintenance.reconcile, name, lambda *_: 1)
    done = maintenance.maintain(stage.collection, NOW)
    assert "unfinished work paid" not in done
    assert done[maintenance.FAILED] >= 1
    assert done["submissions confirmed"] == 1


def test_late_work_above_the_cap_is_owed_and_its_raise_is_recorded(stage):
    session = make_session(make_worker(), make_posting(stage))
    lease = leases.claim(session, stage, NOW)
    emptied(session.posting)
    session.posting.refresh_from_db()
    collection = stage.collection
    full(collection)
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    collection.refresh_from_db()
    assert (collection.budget_cents, collection.spent_cents) == (400, 400)
    assert collection.revisions.get().by == "late work"


@pytest.fixture
def lapsed(stage, fake_marketplace):
    """Return a compensation's HIT that nobody took in its time."""
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW)
    posting = compensation.compensate(lease, 100, "Cut off.", NOW).posting
    posting.external_id, posting.state = "HOWN", PostingState.LIVE
    posting.save()
    fake_marketplace.pending["HOWN"] = 0
    return posting


def test_a_compensation_that_is_being_taken_is_not_put_up_again(
    stage, lapsed, fake_marketplace, monkeypatch
):
    after, handed_in = NOW + timedelta(days=31), []
    monkeypatch.setattr(marketplace, "assignments_of", lambda _: iter(handed_in))
    fake_marketplace.pending["HOWN"] = 1
    assert compensation.reopen_lapsed(stage.collection, after) == 0
    fake_marketplace.pending["HOWN"], handed_in[:] = 0, ["one"]
    assert compensation.reopen_lapsed(stage.collection, after) == 0
    handed_in.clear()
    assert compensation.reopen_lapsed(stage.collection, after) == 1
    assert fake_marketplace.told == [("update_expiration_for_hit", "HOWN")] * 3
    token = lapsed.token
    lapsed.refresh_from_db()
    assert (lapsed.state, lapsed.external_id) == (PostingState.PUBLISHING, "")
    assert lapsed.token != token


def test_one_compensation_that_is_refused_hides_no_other(stage, fake_marketplace, monkeypatch):
    for name in ("AGONE", "ABOB"):
        lease = leases.claim(make_session(make_worker(name), make_posting(stage)), stage, NOW)
        compensation.compensate(lease, 100, "Cut off.", NOW)
        leases.end(lease, LeaseState.EXPIRED, NOW)

    def grant(_, person):
        if person == "AGONE":
            raise MarketplaceError("Nobody is called that.", permanent=True)

    made = []
    monkeypatch.setattr(marketplace, "grant", grant)
    monkeypatch.setattr(
        marketplace, "create_qualification", lambda **type_: made.append(type_) or "Q"
    )
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **_: "T")
    monkeypatch.setattr(marketplace, "create_hit", lambda *_, **__: marketplace.Hit("H", "T"))
    assert compensation.publish_pending(stage.collection, NOW) == 1
    # The message about it names no token, and it stands among nobody's qualifications.
    named = "Collect what you are owed, for Pilot, reference "
    assert all(type_["name"].startswith(named) for type_ in made)
    asked_by = qualifications.requester_keyword(stage.collection)
    assert {type_["keywords"] for type_ in made} == {f"{marketplace.UNLISTED}, {asked_by}"}


def test_late_work_never_lowers_a_budget_that_was_raised_meanwhile(stage, monkeypatch):
    session = make_session(make_worker(), make_posting(stage))
    lease = leases.claim(session, stage, NOW)
    emptied(session.posting)
    session.posting.refresh_from_db()
    collections = Collection.objects.filter(pk=stage.collection_id)
    collections.update(budget_cents=400, reserved_cents=400)
    reserve = budget.reserve

    def overtaken(collection_id, cents):
        monkeypatch.setattr(budget, "reserve", reserve)
        held = reserve(collection_id, cents)
        collections.update(budget_cents=100_000)
        return held

    monkeypatch.setattr(budget, "reserve", overtaken)
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    collection = collections.get()
    assert (collection.budget_cents, collection.spent_cents) == (100_000, 400)
    assert not collection.revisions.exists()


def test_believing_and_deciding_never_touches_the_ledger(stage):
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW)
    submissions.hand_in(lease, questions_for(lease), NOW, synthetic=False)
    before = list(Payment.objects.values())
    posting = Posting.objects.get(pk=lease.session.posting_id)
    assert posting.state == PostingState.SUBMITTED
    for grant in Grant.objects.all():
        decide(grant, granted=False, note="No.", by="Rita", now=NOW)
    assert list(Payment.objects.values()) == before
