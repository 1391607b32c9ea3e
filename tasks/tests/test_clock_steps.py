"""A clock that was ahead keeps nothing for longer than its own length, and pays nothing early."""

import time
from datetime import timedelta

import pytest

from common.wrong_clocks import Clock
from tasks.dialog import presence
from tasks.dialog.tests.making import make_dialogs, make_waiting
from tasks.lifecycle import maintenance
from tasks.models import LeaseState, Posting, PostingState, ReceiptState, Ticket
from tasks.paying import bonuses, reconcile, rejections
from tasks.paying.rejections import lapse
from tasks.tests.deciding import DAY, make_confirmed
from tasks.tests.making import (
    NOW,
    make_collection,
    make_posting,
    make_session,
    make_worker,
    stage_of,
)
from tasks.work import leases

pytestmark = pytest.mark.django_db
AHEAD = [timedelta(hours=1), timedelta(days=365)]
STEPS = [*AHEAD, timedelta(days=-1)]
SECOND = timedelta(seconds=1)
PAID = "submissions approved"


@pytest.fixture
def late():
    """Return a collection whose work is paid a day after it was confirmed."""
    return make_collection(slug="late", pay__approve_after_hours=24)


@pytest.mark.parametrize("step", STEPS)
def test_a_place_is_held_for_no_longer_than_its_time(late, step):
    stage = stage_of(late, "question")
    lease = leases.claim(make_session(make_worker(), make_posting(stage)), stage, NOW + step)
    length = lease.expires_at - lease.taken_at
    leases.save_draft(lease, {"data": {}}, 0, NOW + step)
    maintenance.mend_times(late, NOW)
    leases.expire_overdue(NOW + length + SECOND)
    lease.refresh_from_db()
    assert lease.state == LeaseState.EXPIRED
    assert lease.draft_saved_at <= NOW


@pytest.mark.parametrize("step", AHEAD)
def test_work_is_paid_in_its_time_neither_earlier_nor_later(late, fake_marketplace, step):
    work = make_confirmed(late, at=NOW + step)
    maintenance.mend_times(late, NOW)
    assert reconcile.approve_confirmed(late, NOW) == 0
    assert reconcile.approve_confirmed(late, NOW + DAY - SECOND) == 0
    assert reconcile.approve_confirmed(late, NOW + DAY) == 1
    work.refresh_from_db()
    assert work.state == ReceiptState.APPROVED


def test_two_machines_that_differ_by_seconds_mend_nothing(late):
    make_confirmed(late, at=NOW + 30 * SECOND)
    assert maintenance.mend_times(late, NOW) == 0


@pytest.mark.parametrize("step", AHEAD)
def test_a_proposal_to_reject_holds_pay_up_for_its_days_alone(late, step):
    work = make_confirmed(late, at=NOW + step)
    row = rejections.propose(work.session, "Copied.", "rita", NOW + step)
    length = row.holds_until - row.proposed_at
    maintenance.mend_times(late, NOW)
    assert lapse(late, NOW + length - SECOND) == 0
    assert lapse(late, NOW + length + SECOND) == 1


@pytest.mark.parametrize("step", STEPS)
def test_nobody_is_paired_with_who_left_while_the_clock_was_wrong(step):
    collection = make_dialogs()
    make_waiting(collection.stages.get(name="dialog"), "AADA", now=NOW + step)
    later = NOW + presence.FRESH + SECOND
    maintenance.mend_times(collection, NOW)
    assert not presence.who_are_present(Ticket.objects.all(), later).exists()


@pytest.mark.parametrize("step", AHEAD)
def test_a_hit_is_asked_about_again_in_its_time(late, fake_marketplace, monkeypatch, step):
    asked = []
    monkeypatch.setattr(bonuses.marketplace, "listed_bonuses", lambda **of: asked.append(of) or [])
    make_confirmed(late, at=NOW)
    Posting.objects.update(created_at=NOW, external_id="HIT", state=PostingState.SUBMITTED)
    bonuses.find_elsewhere(late, NOW + step + 2 * timedelta(hours=1))
    bonuses.find_elsewhere(late, NOW + 31 * DAY)
    assert len(asked) == 2


def test_a_round_mends_what_it_finds_once_an_hour(late, fake_marketplace, monkeypatch):
    monkeypatch.setattr(maintenance, "_looked", {})
    make_confirmed(late, at=NOW + timedelta(days=365))
    assert maintenance.maintain(late, NOW)["times mended"] == 2
    assert maintenance.maintain(late, NOW)["times mended"] == 0


def test_a_clock_that_is_set_back_for_minutes_shortens_nothing(late, fake_marketplace, monkeypatch):
    monkeypatch.setattr(maintenance, "_looked", {})
    work = make_confirmed(late, at=NOW)
    monkeypatch.setattr(maintenance, "CLOCK", Clock())
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - DAY.total_seconds())
    maintenance.maintain(late, NOW - DAY)
    work.refresh_from_db()
    assert work.confirmed_at == NOW


@pytest.mark.parametrize("step", STEPS)
def test_while_a_clock_that_has_jumped_may_jump_back_nothing_is_paid_or_ended(
    late, fake_marketplace, monkeypatch, step
):
    seconds = [0.0]
    real, steady = time.time(), time.monotonic()
    monkeypatch.setattr(time, "time", lambda: real + seconds[0])
    monkeypatch.setattr(time, "monotonic", lambda: steady)
    monkeypatch.setattr(maintenance, "CLOCK", Clock())
    monkeypatch.setattr(maintenance, "_steps", lambda *_: steps)
    done = []
    steps = {name: lambda name=name: done.append(name) or 0 for name in ("HITs returned", PAID)}

    def tended(step_seconds, passed=0.0):
        nonlocal steady
        seconds[0], steady = step_seconds, steady + passed
        done.clear()
        maintenance.maintain(late, NOW)
        return PAID in done

    assert tended(0)
    assert not tended(step.total_seconds())
    assert "HITs returned" in done
    # Back again: what was written meanwhile is mended first.
    assert not tended(0)
    assert not tended(599, 599)
    assert tended(601, 2)


def test_what_waits_for_a_clock_are_steps_of_a_round(late, fake_marketplace):
    assert set(maintenance.maintain(late, NOW)) >= maintenance.BY_THE_CLOCK
