"""Tests of the ledger and of compensation."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import make_lease, make_refused_bonus, make_submission
from annotation.dashboard.tests.test_collections import queries
from collector.models import Collection
from tasks.models import (
    Lease,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    Posting,
    Unit,
    UnitItem,
)
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/money/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection in which nobody has earned anything."""
    return make_collection(slug="pilot")


def unfinished(collection: Collection, written: int = 1, **fields: Any) -> Lease:
    """Return a lease that was given back with `written` of two questions saved."""
    closed = timezone.now() - timedelta(hours=1)
    draft = {"data": {"questions": [{"text": f"Which {number}?"} for number in range(written)]}}
    fields = {"state": LeaseState.RETURNED, "closed_at": closed, "draft": draft, **fields}
    return make_lease(stage_of(collection, "question"), **fields)


def out_of_time(collection: Collection, hours_left: int) -> Lease:
    """Return a lease whose time ran out, with hours left to hand it in late."""
    lease = unfinished(collection, state=LeaseState.EXPIRED)
    lease.session.signed_until = timezone.now() + timedelta(hours=hours_left)
    lease.session.save()
    return lease


def compensate(rita: Client, lease: Lease, amount: str = "2.00", **fields: str) -> str:
    """Return the page after the button was pressed."""
    form = {"lease": str(lease.pk), "amount": amount, **fields}
    return rita.post(f"{PAGE}compensate/", form, follow=True).content.decode()


def test_an_empty_ledger_says_when_it_fills(rita: Client, pilot: Collection) -> None:
    page = rita.get(PAGE).content.decode()
    assert "Nobody has earned anything yet" in page
    assert "Not changed since the collection was created." in page


def test_owed_and_confirmed_are_never_mixed(rita: Client, pilot: Collection) -> None:
    stage = stage_of(pilot, "question")
    make_submission(stage, reward=400)
    make_submission(stage, reward=500)
    Payment.objects.filter(amount_cents=500).update(state=PaymentState.CONFIRMED)
    page = rita.get(PAGE).content.decode()
    assert 'data-of="Owed">$4.00</td><td class="n" data-of="Confirmed">$5.00</td>' in page


def test_a_refused_bonus_is_shown_with_the_marketplaces_words(
    rita: Client, pilot: Collection
) -> None:
    bonus = make_refused_bonus(pilot, "<b>No such worker.</b>")
    page = rita.get(PAGE).content.decode()
    assert "The marketplace says: <q>&lt;b&gt;No such worker.&lt;/b&gt;</q>" in page
    assert 'data-of="Owed">$4.00</td><td class="n" data-of="Confirmed">$0.00</td>' in page
    assert "$1.50 refused" in page
    assert '<span class="count">1<' in page
    assert "1 bonus payment refused" in rita.get("/collections/pilot/").content.decode()
    form = {"bonus": str(bonus.pk), "how": "again"}
    assert "asked again" in rita.post(f"{PAGE}bonus/", form, follow=True).content.decode()
    assert "refused no longer" in rita.post(f"{PAGE}bonus/", form, follow=True).content.decode()
    assert "Refused bonuses" not in rita.get(PAGE).content.decode()


def test_changes_of_the_budget_are_listed(rita: Client, pilot: Collection) -> None:
    pilot.revisions.create(key="budget_cents", old=1000, new=2000, by="rita", at=timezone.now())
    assert "rita: $10.00 → <b>$20.00</b>" in rita.get(PAGE).content.decode()


def test_unfinished_work_is_listed_with_its_share(rita: Client, pilot: Collection) -> None:
    unfinished(pilot)
    unfinished(pilot, written=0)
    page = rita.get(PAGE).content.decode()
    assert "50 % saved" in page
    assert 'value="2.00"' in page
    assert page.count(">Compensate<") == 1


@pytest.mark.parametrize(
    ("hours_left", "sentence"),
    [(1, "paid by itself at"), (-1, "not paid yet: the budget may be used up")],
    ids=["in the hour for late work", "after it"],
)
def test_work_that_is_paid_by_itself_is_not_paid_less_by_hand(
    rita: Client, pilot: Collection, hours_left: int, sentence: str
) -> None:
    lease = out_of_time(pilot, hours_left)
    page = rita.get(PAGE).content.decode()
    assert (sentence in page, ">Compensate<" in page) == (True, False)
    form = {"lease": str(lease.pk), "amount": "0.10"}
    assert rita.post(f"{PAGE}compensate/", form).status_code == 404
    lease.refresh_from_db()
    assert (lease.compensated, lease.paid, Payment.objects.count()) == (False, False, 0)


@pytest.mark.parametrize("paid", [False, True], ids=["out of time", "paid as saved"])
def test_what_was_given_back_is_not_paid_by_hand_once_a_later_stay_went_on_with_it(
    rita: Client, pilot: Collection, paid: bool
) -> None:
    lease = unfinished(pilot)
    later = unfinished(pilot, state=LeaseState.EXPIRED, paid=paid, compensated=paid)
    Lease.objects.filter(pk=later.pk).update(unit=lease.unit, worker=lease.worker)
    assert ">Compensate<" not in rita.get(PAGE).content.decode()
    form = {"lease": str(lease.pk), "amount": "0.10"}
    assert rita.post(f"{PAGE}compensate/", form).status_code == 404


def test_a_share_is_offered_to_the_cent_and_rounded_for_the_worker(
    rita: Client, pilot: Collection
) -> None:
    stage = stage_of(pilot, "answer")
    for written, reward in ((7, 90), (7, 95)):
        draft = {"data": {"answers": [{"type": "none"}] * written}}
        lease = unfinished(pilot, draft=draft)
        UnitItem.objects.bulk_create(
            UnitItem(unit=lease.unit, position=place, seed=pilot.seeds.first())
            for place in range(10)
        )
        Unit.objects.filter(pk=lease.unit_id).update(stage=stage, position=100 + reward)
        Posting.objects.filter(pk=lease.session.posting_id).update(reward_cents=reward)
    page = rita.get(PAGE).content.decode()
    assert 'value="0.63"' in page
    assert 'value="0.67"' in page


def test_work_taken_up_again_is_not_listed(rita: Client, pilot: Collection) -> None:
    lease = unfinished(pilot, state=LeaseState.RETURNED)
    Lease.objects.create(
        unit=lease.unit,
        worker=lease.worker,
        session=make_lease(stage_of(pilot, "question"), lease.worker).session,
        taken_at=lease.taken_at,
        expires_at=lease.expires_at,
    )
    assert ">Compensate<" not in rita.get(PAGE).content.decode()


def test_one_click_compensates_once(rita: Client, pilot: Collection) -> None:
    lease = unfinished(pilot)
    page = compensate(rita, lease)
    assert "Worker 1 is owed $2.00: a HIT for them alone opens." in page
    payment = Payment.objects.get(kind=PaymentKind.COMPENSATION)
    assert (payment.amount_cents, payment.worker_id) == (200, lease.worker_id)
    assert payment.posting is not None
    assert payment.posting.worker_id == lease.worker_id
    form = {"lease": str(lease.pk), "amount": "2.00"}
    assert rita.post(f"{PAGE}compensate/", form).status_code == 404
    assert Payment.objects.filter(kind=PaymentKind.COMPENSATION).count() == 1


@pytest.mark.parametrize("amount", ["", "0", "-1", "4.01", "much", "1.005"])
def test_an_amount_that_is_none_pays_nothing(rita: Client, pilot: Collection, amount: str) -> None:
    page = compensate(rita, unfinished(pilot), amount)
    assert "at most the HIT&#x27;s reward of $4.00" in page
    assert not Payment.objects.exists()


def test_a_budget_that_cannot_hold_it_says_so(rita: Client, pilot: Collection) -> None:
    lease = unfinished(pilot)
    Posting.objects.update(reserved_cents=0)
    Collection.objects.update(budget_cents=500)
    page = compensate(rita, lease)
    assert "The budget cannot hold $2.00: raise it, then compensate." in page
    assert not Payment.objects.exists()


@pytest.mark.parametrize("lease", ["", "0", "x", "99999999999999999999", "²"])
def test_an_unknown_lease_is_nowhere(rita: Client, pilot: Collection, lease: str) -> None:
    form = {"lease": lease, "amount": "1"}
    assert rita.post(f"{PAGE}compensate/", form).status_code == 404


def test_another_collection_s_lease_is_nowhere(rita: Client, pilot: Collection) -> None:
    other = make_collection(pilot.corpus, slug="other")
    form = {"lease": str(unfinished(other).pk), "amount": "1"}
    assert rita.post(f"{PAGE}compensate/", form).status_code == 404


def test_its_queries_do_not_follow_the_payments(rita: Client, pilot: Collection) -> None:
    make_submission(stage_of(pilot, "question"))
    unfinished(pilot)
    compensate(rita, unfinished(pilot))
    one = queries(lambda: rita.get(PAGE))
    for _ in range(4):
        make_submission(stage_of(pilot, "question"))
        unfinished(pilot)
        compensate(rita, unfinished(pilot))
    rita.get(PAGE)
    assert queries(lambda: rita.get(PAGE)) == one
