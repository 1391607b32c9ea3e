"""What a person gives is sent once and paid by the budget; what others pay is found and entered."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models import F, Sum

from common.actions import ActionError
from tasks.crowd.requester_api import MarketplaceError
from tasks.ledger import payments
from tasks.models import ON_MARKETPLACE, Payment, PaymentKind, PaymentState, Posting
from tasks.paying import bonuses, decisions
from tasks.people import erasure
from tasks.tests.deciding import SOON, make_confirmed, money
from tasks.tests.making import NOW, make_session, make_worker

pytestmark = pytest.mark.django_db
FIRST, SECOND = uuid4(), uuid4()
HOURS = SOON + timedelta(hours=2)


@pytest.fixture
def work(collection, counter):
    """Return work that the marketplace lists, on a HIT that it knows."""
    found = make_confirmed(collection)
    counter.hits[found.session.session_id] = found.session.posting.external_id
    return found


@pytest.fixture
def bound(work, collection):
    """Return the money bound before any bonus."""
    return money(collection)


def give(work, cents=150, reason="The clearest questions so far.", once=FIRST):
    return payments.give_bonus(work.lease, cents, reason, "rita", once, SOON)


def paid_elsewhere(counter, work, amount="0.70", reason="Thank you.", token="T1"):
    counter.call(
        "send_bonus",
        WorkerId=work.session.person,
        AssignmentId=work.session.session_id,
        BonusAmount=amount,
        Reason=reason,
        UniqueRequestToken=token,
    )


def listed_cents(counter):
    return sum(round(float(each["BonusAmount"]) * 100) for each in counter.sent)


def ledger_cents():
    rows = Payment.objects.filter(kind=PaymentKind.BONUS, state=PaymentState.CONFIRMED)
    return rows.aggregate(all=Sum("amount_cents", default=0))["all"]


def test_a_bonus_is_drawn_from_the_budget_and_sent_once(collection, work, bound, counter):
    payment = give(work)
    assert give(work) == payment
    assert money(collection) == (bound[0], bound[1] + 150)
    assert (payment.by, payment.state) == ("rita", PaymentState.DUE)
    assert bonuses.send_due(collection, SOON) == 1
    assert bonuses.send_due(collection, SOON) == 0
    assert [each["BonusAmount"] for each in counter.sent] == ["1.50"]
    assert [each["Reason"] for each in counter.sent] == ["The clearest questions so far."]
    assert listed_cents(counter) == ledger_cents() == 150


def test_two_alike_are_two_and_neither_is_taken_for_the_other_after_a_day(
    collection, work, counter
):
    give(work)
    bonuses.send_due(collection, SOON)
    give(work, once=SECOND)
    counter.forgets = True
    assert bonuses.send_due(collection, SOON + timedelta(days=2)) == 1
    assert listed_cents(counter) == ledger_cents() == 300


def test_one_whose_reply_was_lost_is_not_found_again_as_somebody_elses(collection, work, counter):
    give(work)
    counter.dies_after = True
    with pytest.raises(MarketplaceError):
        bonuses.send_due(collection, SOON)
    assert bonuses.find_elsewhere(collection, HOURS) == 0
    counter.dies_after = False
    bonuses.send_due(collection, SOON)
    assert listed_cents(counter) == ledger_cents() == 150


def test_one_whose_reply_was_lost_is_not_sent_again_after_a_merge_and_a_day(
    collection, work, counter
):
    give(work)
    counter.dies_after = True
    with pytest.raises(MarketplaceError):
        bonuses.send_due(collection, SOON)
    counter.dies_after, counter.forgets = False, True
    # The account was merged into another: its bonuses are listed by that one's id.
    counter.sent[0]["WorkerId"] = "AMERGED"
    bonuses.send_due(collection, SOON + timedelta(days=2))
    assert listed_cents(counter) == ledger_cents() == 150


def test_one_to_an_earlier_holder_of_the_assignment_is_nobody_elses(collection, work, counter):
    stay = work.session
    earlier = make_session(make_worker("AGRACE"), stay.posting)
    type(stay).objects.filter(pk=earlier.pk).update(session_id=stay.session_id)
    give(work)
    counter.forgets = True
    counter.sent.append(
        {
            "WorkerId": "AGRACE",
            "AssignmentId": stay.session_id,
            "BonusAmount": "1.50",
            "Reason": "The clearest questions so far.",
            "GrantTime": NOW,
        }
    )
    bonuses.send_due(collection, SOON + timedelta(days=2))
    assert [each["WorkerId"] for each in counter.sent] == ["AGRACE", "AADA"]


@pytest.mark.parametrize("side", ["here", "there"])
def test_a_bonus_whose_reason_was_erased_is_not_taken_for_anothers(collection, work, counter, side):
    give(work)
    bonuses.send_due(collection, SOON)
    paid_elsewhere(counter, work, amount="1.50", reason="From another program.")
    if side == "here":
        Payment.objects.filter(kind=PaymentKind.BONUS).update(reason="")
    else:
        counter.sent[0]["Reason"] = ""
    assert bonuses.find_elsewhere(collection, HOURS) == 1
    bonuses.ask_anew(collection, HOURS)
    assert bonuses.find_elsewhere(collection, HOURS) == 0
    assert listed_cents(counter) == ledger_cents() == 300


@pytest.mark.parametrize(
    ("cents", "reason", "sentence"),
    [
        (0, "Well done.", "above zero"),
        (-5, "Well done.", "above zero"),
        (100, " ", "Say what it is for"),
        (100, "x" * 501, "at most 500 characters"),
        (100_000, "Well done.", "raise the budget"),
    ],
)
def test_what_cannot_be_given_is_refused_and_changes_nothing(
    collection, work, bound, cents, reason, sentence
):
    with pytest.raises(ActionError, match=sentence):
        give(work, cents, reason)
    assert money(collection) == bound
    assert not Payment.objects.filter(kind=PaymentKind.BONUS).exists()


def test_nobody_is_given_anything_who_asked_to_be_forgotten(collection, work):
    Payment.objects.update(state=PaymentState.CONFIRMED)
    type(work).objects.update(state="approved")
    erasure.forget(work.lease.worker, SOON, withdraw=False)
    work.refresh_from_db()
    work.lease.worker.refresh_from_db()
    with pytest.raises(ActionError, match="asked to be forgotten"):
        give(type(work).objects.get(pk=work.pk))


def test_a_refused_one_can_be_dropped_and_the_budget_has_it_back(collection, work, bound, counter):
    payment = give(work)
    assert not decisions.drop_bonus(payment)
    counter.refuses = "A bonus can be sent within six months after the work was done."
    bonuses.send_due(collection, SOON)
    assert decisions.drop_bonus(payment)
    assert not decisions.drop_bonus(payment)
    assert money(collection) == bound
    assert bonuses.send_due(collection, SOON) == 0


def test_what_a_rule_promised_is_not_dropped(collection, work, counter):
    payment = give(work)
    Payment.objects.filter(pk=payment.pk).update(by="", state=PaymentState.REFUSED)
    assert not decisions.drop_bonus(payment)


def test_what_a_rule_promised_to_somebody_who_was_forgotten_can_only_be_dropped(
    collection, work, bound
):
    payment = give(work)
    Payment.objects.filter(pk=payment.pk).update(by="", state=PaymentState.REFUSED)
    payment.refresh_from_db()
    work.lease.worker.identity.delete()
    assert not decisions.pay_bonus_apart(payment, SOON)
    assert decisions.drop_bonus(payment)
    assert money(collection) == bound


def test_what_is_paid_on_the_marketplace_is_entered_once_and_drawn_from_the_budget(
    collection, work, bound, counter
):
    give(work)
    bonuses.send_due(collection, SOON)
    paid_elsewhere(counter, work, token="T1")
    paid_elsewhere(counter, work, token="T2")
    paid_elsewhere(counter, work, amount="1.50", reason="The clearest questions so far.", token="T")
    assert bonuses.find_elsewhere(collection, SOON) == 0
    assert bonuses.find_elsewhere(collection, HOURS) == 3
    assert bonuses.ask_anew(collection, HOURS) == 1
    assert bonuses.find_elsewhere(collection, HOURS) == 0
    assert money(collection) == (bound[0], bound[1] + 150 + 70 + 70 + 150)
    assert listed_cents(counter) == ledger_cents() == 440
    found = Payment.objects.filter(by=ON_MARKETPLACE)
    assert {(row.worker_id, row.lease_id) for row in found} == {
        (work.lease.worker_id, work.lease_id)
    }


def test_what_goes_over_the_budget_raises_it_and_says_so(collection, work, counter):
    type(collection).objects.update(budget_cents=F("reserved_cents") + F("spent_cents"))
    paid_elsewhere(counter, work)
    assert bonuses.find_elsewhere(collection, HOURS) == 1
    revision = collection.revisions.get(key="budget_cents")
    assert (revision.by, revision.new - revision.old) == ("a bonus paid on the marketplace", 70)


def test_a_bonus_for_somebody_who_never_came_to_us_is_entered_too(collection, work, counter):
    stay = work.session
    type(stay).objects.filter(pk=stay.pk).update(session_id="ANOTHER")
    paid_elsewhere(counter, work)
    assert bonuses.find_elsewhere(collection, HOURS) == 1
    assert Payment.objects.get(by=ON_MARKETPLACE).lease is None


def test_a_hit_is_asked_about_ever_more_rarely_and_one_it_forgot_stops_no_other(
    collection, work, counter, monkeypatch
):
    asked = []

    def forgotten(**of):
        asked.append(of)
        raise MarketplaceError("There is no such HIT.", permanent=True)

    monkeypatch.setattr(bonuses.marketplace, "listed_bonuses", forgotten)
    for hours in (2, 2.5, 3.5, 4):
        bonuses.find_elsewhere(collection, NOW + timedelta(hours=hours))
    assert len(asked) == 2
    bonuses.find_elsewhere(collection, NOW + timedelta(days=48))
    again = Posting.objects.get(pk=work.session.posting_id).ask_bonuses_at
    assert again == NOW + timedelta(days=50)
